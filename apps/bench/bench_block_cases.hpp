#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/peers/cublas_block.hpp"
#include "spmm/device/kernels.hpp"
#include "spmm/matrix/dense_block.hpp"

namespace block_eigs::bench {

/// One kernel on one shape: what it moves and computes, how to run it, how to run the peer, what it makes.
struct BlockCase {
  std::string name;    ///< "(AZ)^T W", ...
  double words = 0.0;  ///< of T that must cross memory for each row
  double flops = 0.0;  ///< for each row
  std::function<void()> run;
  std::function<void()> peer = {};                        ///< empty where there is none
  std::vector<int> outputs = {};                          ///< blocks that `run` writes
  std::function<std::span<const double>()> numbers = {};  ///< that `run` hands to the host
};

/// The blocks of a LOBPCG iteration at `b` columns, Z = [X P W], AZ, the next X and P and R, and the kernels that
/// work on them. The numbers in them depend on `rows` and `b` alone, so that two backends can be compared.
template <class T>
class BlockCases {
 public:
  /// `with_peer` makes room for the peer's layout, Z in one block. Throws RunError where memory runs out.
  BlockCases(std::shared_ptr<Device> device, LocalIndex rows, LocalIndex b, bool with_peer);

  std::vector<BlockCase> list();
  /// Sets all blocks to what they were at first.
  void fill();
  std::vector<T> block(int index) const { return blocks_[static_cast<std::size_t>(index)].to_host(); }

 private:
  enum Name : int { x, p, w, ax, ap, aw, next_x, next_p, r, block_count };

  BlockCase gram_case(std::string name, Name first, double words);
  BlockCase update_case();
  BlockCase update_residual_case();
  /// Of block CG: Q <- [Q AS] C, where `scaled` Z <- D Q, and Q^T [Z Q]; in one call or in as many as there are
  /// passes.
  BlockCase basis_case(bool scaled, bool at_once);
  BlockCase residual_case();
  BlockCase dots_case();
  BlockCase axpby_case();
  BlockCase combine_case();
  ConstBlockView<T> in(Name name) const { return blocks_[name].view(); }
  BlockView<T> out(Name name) { return blocks_[name].view(); }

  std::shared_ptr<Device> device_;
  std::shared_ptr<Kernels<T>> kernels_;
  LocalIndex rows_;
  LocalIndex b_;
  std::vector<DenseBlock<T>> blocks_;
  Buffer<T> scales_;  ///< one a row
  SmallMatrix coefficients_;
  SmallMatrix basis_change_;
  SmallMatrix gram_;
  std::vector<double> lambda_;
  std::vector<double> sums_;
  std::unique_ptr<CublasBlock<T>> peer_;
  DenseBlock<T> peer_basis_;
  DenseBlock<T> peer_next_;
  Buffer<T> peer_coefficients_;
  Buffer<T> peer_gram_;
};

/// Largest difference between what the case wrote on two backends, relative to the largest number there.
template <class T>
double largest_difference(const BlockCases<T>& got, const BlockCase& got_case, const BlockCases<T>& expected,
                          const BlockCase& expected_case);

}  // namespace block_eigs::bench
