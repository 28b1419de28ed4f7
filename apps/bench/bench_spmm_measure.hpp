#pragma once

#include <memory>
#include <string>

#include "apps/bench/peers/cusparse_spmm.hpp"
#include "spmm/matrix/csr_matrix.hpp"
#include "spmm/matrix/dense_block.hpp"

namespace block_eigs::bench {

/// What one product C = A B took. Seconds are medians.
struct SpmmMeasurement {
  std::string group;
  std::string name;
  std::string precision;
  LocalIndex rows = 0;
  LocalIndex columns = 0;  ///< of A
  Offset nonzeros = 0;
  LocalIndex n = 0;    ///< columns of B
  double floor = 0.0;  ///< seconds: A, B and C once over memory
  double row_split = 0.0;
  double merge = 0.0;
  double automatic = 0.0;
  SpmmAlgorithm chosen =
      SpmmAlgorithm::automatic;  ///< by the rule; `automatic` where the backend has one algorithm
  double setup = 0.0;            ///< seconds of Kernels::analyse
  double peer = 0.0;             ///< cuSPARSE's best; 0 where there is no peer
  std::string peer_algorithm;
  double dense_peer = 0.0;   ///< A as a dense matrix, by cuBLAS; 0 where not asked for
  double difference = -1.0;  ///< from the host backend, over product_bound.hpp's bound; negative: not checked

  double oracle() const { return row_split < merge ? row_split : merge; }
  bool wrong() const { return difference >= 0.0 && !(difference <= 1.0); }
};

struct SpmmBenchSettings {
  int repeats = 11;
  double bandwidth = 0.0;  ///< bytes a second, of the floor
  bool check = false;
  bool dense_peer = false;
};

/// Runs the same work several times, each after a sweep over a scratch block larger than the caches.
class ColdTimer {
 public:
  explicit ColdTimer(std::shared_ptr<Device> device);
  /// Median seconds in the compute queue of `repeats` runs, after two that warm up.
  template <class Work>
  double median_seconds(int repeats, const Work& work);
  /// Bytes read plus written a second by a large copy.
  double copy_bandwidth();

 private:
  void sweep();

  std::shared_ptr<Device> device_;
  std::shared_ptr<Kernels<double>> kernels_;
  DenseBlock<double> scratch_;
};

/// One matrix on the device with its plans, its peer, and the same on the host.
template <class T>
class SpmmBench {
 public:
  SpmmBench(std::shared_ptr<Device> device, const CsrArrays<double>& matrix, const SpmmBenchSettings& settings);

  /// All fields but group and name.
  SpmmMeasurement measure(LocalIndex n, ColdTimer& timer);

 private:
  struct HostProduct;

  double time_product(SpmmAlgorithm algorithm, ConstBlockView<T> b, BlockView<T> c, ColdTimer& timer,
                      const HostProduct* expected, double& difference);
  void time_peer(ConstBlockView<T> b, BlockView<T> c, ColdTimer& timer, SpmmMeasurement& result);
  double time_dense_peer(LocalIndex n, ColdTimer& timer);
  std::unique_ptr<HostProduct> multiply_on_host(ConstBlockView<T> b);

  std::shared_ptr<Device> device_;
  SpmmBenchSettings settings_;
  std::shared_ptr<Kernels<T>> kernels_;
  const CsrArrays<double>& matrix_;
  std::vector<T> host_values_;
  Buffer<Offset> offsets_;
  Buffer<LocalIndex> columns_;
  Buffer<T> values_;
  CsrView<T> on_host_;
  CsrView<T> on_device_;
  std::unique_ptr<SpmmPlan> plans_[3];  ///< by SpmmAlgorithm
  double setup_ = 0.0;
  std::unique_ptr<CusparseSpmm<T>> peer_;
};

}  // namespace block_eigs::bench
