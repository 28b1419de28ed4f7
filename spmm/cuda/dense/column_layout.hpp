#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "spmm/types.hpp"

// Launchers: Kernels<T> says what each computes. They queue on `stream` and return.
namespace block_eigs::cuda {

template <class T>
void from_columns(cudaStream_t stream, const T* columns, std::int64_t leading, BlockView<T> y);
template <class T>
void to_columns(cudaStream_t stream, ConstBlockView<T> x, T* columns, std::int64_t leading);

}  // namespace block_eigs::cuda
