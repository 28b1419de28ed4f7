#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "spmm/device/kernels.hpp"

// Launchers of the element-wise kernels: Kernels<T> says what each computes. They queue on `stream` and return.
namespace block_eigs::cuda {

template <class T>
void gather_rows(cudaStream_t stream, ConstBlockView<T> x, const LocalIndex* rows, BlockView<T> out);
template <class T>
void scale_rows(cudaStream_t stream, const T* d, ConstBlockView<T> x, BlockView<T> y);
template <class T>
void axpby(cudaStream_t stream, double alpha, ConstBlockView<T> x, double beta, BlockView<T> y);

template <class T>
void combine(cudaStream_t stream, const ProductStep<T>& step, const double* betas, ConstBlockView<T> ax,
             ConstBlockView<T> x, BlockView<T> y);
template <class T>
void fill(cudaStream_t stream, BlockView<T> y, double value);
template <class T>
void fill_random(cudaStream_t stream, BlockView<T> y, std::uint64_t seed, GlobalIndex first_row);
/// `scales` in device memory, y.cols of them, or null for ones. Also what copies within one precision.
template <class From, class To>
void convert(cudaStream_t stream, ConstBlockView<From> x, const double* scales, BlockView<To> y);

}  // namespace block_eigs::cuda
