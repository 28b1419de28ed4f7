#pragma once

#include <memory>
#include <string>
#include <vector>

#include "spmm/device/kernels.hpp"

// Free of CUDA headers, so that the bench itself is an ordinary program.
namespace block_eigs::bench {

/// cuSPARSE's SpMM on one matrix, B and C row-major, with 32-bit row offsets: default, ALG1, ALG2, ALG3, each
/// preprocessed. All memory is the device's; everything is queued on its compute queue.
template <class T>
class CusparseSpmm {
 public:
  CusparseSpmm() = default;
  CusparseSpmm(const CusparseSpmm&) = delete;
  CusparseSpmm& operator=(const CusparseSpmm&) = delete;
  virtual ~CusparseSpmm() = default;

  static std::vector<std::string> algorithms() { return {"default", "alg1", "alg2", "alg3"}; }
  /// Makes `algorithm` ready for C = A B; false where cuSPARSE cannot do it. b and c stay in use.
  virtual bool prepare(int algorithm, ConstBlockView<T> b, BlockView<T> c) = 0;
  /// Queues the product that was made ready last.
  virtual void multiply() = 0;
};

/// `host` and `a` are the same matrix in host and device memory; `a` stays in use. Null where this build has no
/// CUDA, `device` is not a GPU, or there are 2^31 nonzeros and more.
template <class T>
std::unique_ptr<CusparseSpmm<T>> make_cusparse_spmm(const std::shared_ptr<Device>& device, const CsrView<T>& host,
                                                    const CsrView<T>& a);

/// What products with that plan will run; `automatic` where the backend has but one algorithm.
SpmmAlgorithm chosen_algorithm(const SpmmPlan& plan);

}  // namespace block_eigs::bench
