#include <string>

#include "spmm/cuda/spmm_engine.hpp"
#include "spmm/error.hpp"

namespace block_eigs::cuda {

namespace {

class CudaSpmmPlan final : public SpmmPlan {};

/// One thread an element of C.
template <class T>
__global__ void multiply_elements(CsrView<T> a, ConstBlockView<T> b, BlockView<T> c, bool accumulate) {
  const Offset element = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (element >= static_cast<Offset>(a.rows) * c.cols) return;
  const LocalIndex row = static_cast<LocalIndex>(element / c.cols);
  const LocalIndex column = static_cast<LocalIndex>(element % c.cols);
  T sum = 0;
  for (Offset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
    sum += a.values[k] * b.data[static_cast<Offset>(a.column_indices[k]) * b.stride + column];
  }
  const LocalIndex target = a.row_map == nullptr ? row : a.row_map[row];
  T& result = c.data[static_cast<Offset>(target) * c.stride + column];
  result = accumulate ? result + sum : sum;
}

}  // namespace

template <class T>
SpmmEngine<T>::SpmmEngine(cudaStream_t stream, std::shared_ptr<Device> device)
    : stream_(stream), device_(std::move(device)) {}

template <class T>
std::unique_ptr<SpmmPlan> SpmmEngine<T>::analyse(const CsrView<T>&, const CsrView<T>&, const SpmmOptions&) {
  return std::make_unique<CudaSpmmPlan>();
}

template <class T>
void SpmmEngine<T>::spmm(SpmmPlan&, const CsrView<T>& a, ConstBlockView<T> b, BlockView<T> c,
                         Accumulate accumulate) {
  const Offset elements = static_cast<Offset>(a.rows) * c.cols;
  if (elements == 0) return;
  constexpr int threads = 256;
  const unsigned blocks = static_cast<unsigned>((elements + threads - 1) / threads);
  multiply_elements<<<blocks, threads, 0, stream_>>>(a, b, c, accumulate == Accumulate::yes);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) throw RunError(std::string("SpMM kernel: ") + cudaGetErrorString(status));
}

template class SpmmEngine<float>;
template class SpmmEngine<double>;

}  // namespace block_eigs::cuda
