#include "spmm/cuda/sparse/spmm_merge_choice.cuh"

namespace block_eigs::cuda {

template void multiply_merge(const SpmmCall<float, DenseOperands>&, bool);
template void multiply_merge(const SpmmCall<double, DenseOperands>&, bool);

}  // namespace block_eigs::cuda
