#include "spmm/cuda/update.hpp"

#include <algorithm>

#include "spmm/cuda/cuda_check.hpp"
#include "spmm/cuda/device_list.cuh"

namespace block_eigs::cuda {

namespace {

template <class T>
__global__ void update_rows(DeviceList<ConstBlockView<T>> in, const double* coefficients, DeviceList<BlockView<T>> out) {
  extern __shared__ double x[];
  const LocalIndex width = in.cols;
  for (LocalIndex row = static_cast<LocalIndex>(blockIdx.x); row < out.rows; row += static_cast<LocalIndex>(gridDim.x)) {
    LocalIndex first = 0;
    for (int v = 0; v < in.size; ++v) {
      for (LocalIndex j = static_cast<LocalIndex>(threadIdx.x); j < in.views[v].cols; j += static_cast<LocalIndex>(blockDim.x)) {
        x[first + j] = static_cast<double>(in.views[v].data[static_cast<std::ptrdiff_t>(row) * in.views[v].stride + j]);
      }
      first += in.views[v].cols;
    }
    __syncthreads();
    first = 0;
    for (int v = 0; v < out.size; ++v) {
      for (LocalIndex j = static_cast<LocalIndex>(threadIdx.x); j < out.views[v].cols; j += static_cast<LocalIndex>(blockDim.x)) {
        const double* column = coefficients + static_cast<std::ptrdiff_t>(first + j) * width;
        double sum = 0.0;
        for (LocalIndex k = 0; k < width; ++k) sum += x[k] * column[k];
        out.views[v].data[static_cast<std::ptrdiff_t>(row) * out.views[v].stride + j] = static_cast<T>(sum);
      }
      first += out.views[v].cols;
    }
    __syncthreads();
  }
}

}  // namespace

template <class T>
void update(CudaDevice& device, Workspace& workspace, const ConstBlockList<T>& in, const SmallMatrix& coefficients,
            const BlockList<T>& out) {
  if (out.rows() == 0 || out.cols() == 0) return;
  double* staged = workspace.stage(coefficients.values().size());
  std::copy(coefficients.values().begin(), coefficients.values().end(), staged);
  const double* sent = workspace.send();
  const unsigned blocks = static_cast<unsigned>(std::min(out.rows(), 16 * device.multiprocessors()));
  const std::size_t shared = static_cast<std::size_t>(in.cols()) * sizeof(double);
  update_rows<<<blocks, 64, shared, device.stream(Queue::compute)>>>(DeviceList(in), sent, DeviceList(out));
  check_launch("update");
}

template void update(CudaDevice&, Workspace&, const ConstBlockList<float>&, const SmallMatrix&, const BlockList<float>&);
template void update(CudaDevice&, Workspace&, const ConstBlockList<double>&, const SmallMatrix&,
                     const BlockList<double>&);

}  // namespace block_eigs::cuda
