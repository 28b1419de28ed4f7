#include "spmm/cuda/sparse/spmm_strips_choice.cuh"

namespace block_eigs::cuda {

template void multiply_strips(const SpmmCall<float, DenseOperands>&);
template void multiply_strips(const SpmmCall<double, DenseOperands>&);

}  // namespace block_eigs::cuda
