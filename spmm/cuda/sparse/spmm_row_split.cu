#include "spmm/cuda/sparse/spmm_row_split_choice.cuh"

namespace block_eigs::cuda {

template void multiply_row_split(const SpmmCall<float, DenseOperands>&, bool);
template void multiply_row_split(const SpmmCall<double, DenseOperands>&, bool);

}  // namespace block_eigs::cuda
