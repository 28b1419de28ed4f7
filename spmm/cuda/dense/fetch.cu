#include "spmm/cuda/dense/fetch.hpp"
#include "spmm/cuda/runtime/cuda_check.hpp"

namespace block_eigs::cuda {

namespace {

constexpr unsigned threads = 128;

__global__ void __launch_bounds__(threads) fetch_pairs(const double2* from, double2* to, unsigned pairs) {
  const unsigned i = blockIdx.x * threads + threadIdx.x;
  if (i < pairs) to[i] = __ldcv(from + i);
}

}  // namespace

void fetch(cudaStream_t stream, const double* from, double* to, std::size_t count) {
  const auto pairs = static_cast<unsigned>((count + 1) / 2);
  if (pairs == 0) return;
  fetch_pairs<<<(pairs - 1) / threads + 1, threads, 0, stream>>>(reinterpret_cast<const double2*>(from),
                                                                 reinterpret_cast<double2*>(to), pairs);
  check_launch("fetch");
}

}  // namespace block_eigs::cuda
