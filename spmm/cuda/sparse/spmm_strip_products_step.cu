#include "spmm/cuda/sparse/spmm_strips_choice.cuh"

namespace block_eigs::cuda {

template void multiply_strips(const SpmmCall<float, StepOperands>&);
template void multiply_strips(const SpmmCall<double, StepOperands>&);

}  // namespace block_eigs::cuda
