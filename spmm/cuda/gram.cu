#include "spmm/cuda/gram.hpp"

#include "spmm/cuda/cuda_check.hpp"
#include "spmm/cuda/device_list.cuh"

namespace block_eigs::cuda {

namespace {

template <class T>
__device__ double column_element(const DeviceList<ConstBlockView<T>>& list, LocalIndex row, LocalIndex column) {
  int v = 0;
  while (column >= list.views[v].cols) column -= list.views[v++].cols;
  return static_cast<double>(list.views[v].data[static_cast<std::ptrdiff_t>(row) * list.views[v].stride + column]);
}

template <class T>
__global__ void dot_products(DeviceList<ConstBlockView<T>> left, DeviceList<ConstBlockView<T>> right, double* results) {
  __shared__ double sums[256];
  const LocalIndex i = static_cast<LocalIndex>(blockIdx.x);
  const LocalIndex j = static_cast<LocalIndex>(blockIdx.y);
  double sum = 0.0;
  for (LocalIndex row = static_cast<LocalIndex>(threadIdx.x); row < left.rows; row += 256) {
    sum += column_element(left, row, i) * column_element(right, row, j);
  }
  sums[threadIdx.x] = sum;
  for (unsigned half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) results[static_cast<std::size_t>(j) * gridDim.x + i] = sums[0];
}

}  // namespace

template <class T>
void gram(CudaDevice& device, Workspace&, const ConstBlockList<T>& left, const ConstBlockList<T>& right,
          double* results) {
  const dim3 grid(static_cast<unsigned>(left.cols()), static_cast<unsigned>(right.cols()));
  if (grid.x == 0 || grid.y == 0) return;
  dot_products<<<grid, 256, 0, device.stream(Queue::compute)>>>(DeviceList(left), DeviceList(right), results);
  check_launch("gram");
}

template void gram(CudaDevice&, Workspace&, const ConstBlockList<float>&, const ConstBlockList<float>&, double*);
template void gram(CudaDevice&, Workspace&, const ConstBlockList<double>&, const ConstBlockList<double>&, double*);

}  // namespace block_eigs::cuda
