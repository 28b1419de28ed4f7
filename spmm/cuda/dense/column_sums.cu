#include "spmm/cuda/dense/column_sums.hpp"

#include <algorithm>

#include "spmm/cuda/dense/hand_over.cuh"
#include "spmm/cuda/dense/row_tiles.cuh"
#include "spmm/cuda/runtime/early_launch.cuh"

namespace block_eigs::cuda {

namespace {

constexpr int threads = 256;
constexpr int rows_at_once = 4;  // loads in flight a thread

/// Thread block (32, summing_warps): each of its warps adds up every 32nd part of 32 results.
constexpr int summing_warps = 32;
__global__ void __launch_bounds__(32 * summing_warps)
    sum_parts_kernel(const double* partial, int parts, int count, const HandOver sums_to) {
  __shared__ double sums[summing_warps][32];
  let_next_begin();
  wait_for_earlier();
  const int k = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  double sum = 0.0;
  if (k < count) {
#pragma unroll 9  // parts of 132 multiprocessors with 2 blocks, at once
    for (int p = static_cast<int>(threadIdx.y); p < parts; p += summing_warps)
      sum += partial[static_cast<std::size_t>(p) * count + k];
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0 && k < count) {
    for (int w = 1; w < summing_warps; ++w) sum += sums[w][threadIdx.x];
    sums_to.results[k] = sum;
  }
  announce_with_others(sums_to);
}

template <class T>
struct Dots {
  ConstBlockView<T> x, y;
  __device__ double load(LocalIndex i, LocalIndex j) const {
    return static_cast<double>(element(x, i, j)) * static_cast<double>(element(y, i, j));
  }
  __device__ void store(LocalIndex, LocalIndex, double) const {}
  __device__ double term(double value) const { return value; }
};

template <class T>
struct Residual {
  ConstBlockView<T> ax, bx;
  const double* lambda;
  BlockView<T> r;
  __device__ T load(LocalIndex i, LocalIndex j) const {
    return element(ax, i, j) - element(bx, i, j) * static_cast<T>(lambda[j]);
  }
  __device__ void store(LocalIndex i, LocalIndex j, T value) const { element(r, i, j) = value; }
  __device__ double term(T value) const { return static_cast<double>(value) * static_cast<double>(value); }
};

/// Thread block (width, threads / width); thread x adds up columns x, x + width, ... of its rows, at most
/// `Segments` of them. Whole rows are loaded before any of them is stored. partial[block * pitch + j] is the sum
/// of the block.
template <int Segments, class Operation>
__global__ void __launch_bounds__(threads)
    column_sums(LocalIndex rows, LocalIndex cols, Operation operation, double* partial, LocalIndex pitch) {
  using Value = decltype(operation.load(0, 0));
  const LocalIndex width = static_cast<LocalIndex>(blockDim.x);
  const LocalIndex x = static_cast<LocalIndex>(threadIdx.x);
  const LocalIndex height = static_cast<LocalIndex>(blockDim.y);
  const LocalIndex step = rows_at_once * height;
  double sums[Segments] = {};
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * step; first < rows;
       first += static_cast<std::int64_t>(gridDim.x) * step) {
    Value values[rows_at_once][Segments];
    const LocalIndex mine = static_cast<LocalIndex>(first) + static_cast<LocalIndex>(threadIdx.y);
    const LocalIndex left = rows - static_cast<LocalIndex>(first) - static_cast<LocalIndex>(threadIdx.y);
#pragma unroll
    for (int u = 0; u < rows_at_once; ++u) {
#pragma unroll
      for (int s = 0; s < Segments; ++s) {
        if (u * height < left && x + s * width < cols) {
          values[u][s] = operation.load(mine + u * height, x + s * width);
        }
      }
    }
    __syncthreads();
#pragma unroll
    for (int u = 0; u < rows_at_once; ++u) {
#pragma unroll
      for (int s = 0; s < Segments; ++s) {
        if (u * height < left && x + s * width < cols) {
          operation.store(mine + u * height, x + s * width, values[u][s]);
          sums[s] += operation.term(values[u][s]);
        }
      }
    }
  }
  __shared__ double shared[threads];
#pragma unroll
  for (int s = 0; s < Segments; ++s) {
    __syncthreads();
    shared[threadIdx.y * blockDim.x + threadIdx.x] = sums[s];
    __syncthreads();
    if (threadIdx.y != 0 || x + s * width >= cols) continue;
    double sum = 0.0;
    for (LocalIndex y = 0; y < height; ++y) sum += shared[y * width + x];
    partial[static_cast<std::size_t>(blockIdx.x) * pitch + x + s * width] = sum;
  }
}

constexpr int segments = 4;
/// Columns that one launch adds up.
constexpr LocalIndex widest_sums = threads * segments;

/// `operation_of(first, count)` is what is to be done with columns first .. first + count - 1. More than
/// widest_sums are done slab by slab: an operation that stores must not be asked for so many.
template <class OperationOf>
void sum_columns(CudaDevice& device, Workspace& workspace, LocalIndex rows, LocalIndex cols,
                 const OperationOf& operation_of, const HandOver& results, std::string_view name) {
  if (cols == 0) return;
  const unsigned width = std::min(static_cast<unsigned>(cols), static_cast<unsigned>(threads));
  const dim3 shape(width, threads / width);
  const LocalIndex step = rows_at_once * static_cast<LocalIndex>(shape.y);
  const LocalIndex enough = rows == 0 ? 1 : (rows - 1) / step + 1;
  const int blocks = static_cast<int>(std::min<LocalIndex>(enough, 8 * device.multiprocessors()));
  double* partial = workspace.partial_sums(static_cast<std::size_t>(blocks) * static_cast<std::size_t>(cols));
  const cudaStream_t stream = device.stream(Queue::compute);
  for (LocalIndex first = 0; first < cols; first += widest_sums) {
    const LocalIndex count = std::min(widest_sums, cols - first);
    const auto operation = operation_of(first, count);
    if (cols <= threads) {
      column_sums<1>
          <<<static_cast<unsigned>(blocks), shape, 0, stream>>>(rows, count, operation, partial + first, cols);
    } else {
      column_sums<segments>
          <<<static_cast<unsigned>(blocks), shape, 0, stream>>>(rows, count, operation, partial + first, cols);
    }
    check_launch(name);
  }
  sum_parts(device, partial, blocks, cols, results);
}

}  // namespace

void sum_parts(CudaDevice& device, const double* partial, int parts, int count, const HandOver& sums) {
  if (count == 0) return;
  launch_early(device.launches_early(), sum_parts_kernel, static_cast<unsigned>((count + 31) / 32),
               dim3(32, summing_warps), 0, device.stream(Queue::compute), "sum_parts", partial, parts, count,
               sums);
}

template <class T>
void column_dots(CudaDevice& device, Workspace& workspace, ConstBlockView<T> x, ConstBlockView<T> y,
                 const HandOver& dots) {
  const auto slab = [&](LocalIndex first, LocalIndex count) {
    return Dots<T>{x.columns(first, count), y.columns(first, count)};
  };
  sum_columns(device, workspace, x.rows, x.cols, slab, dots, "column_dots");
}

template <class T>
void residual(CudaDevice& device, Workspace& workspace, ConstBlockView<T> ax, ConstBlockView<T> bx,
              const double* lambda, BlockView<T> r, const HandOver& squared_norms) {
  const Residual<T> all{ax, bx, lambda, r};
  if (r.cols > widest_sums) {
    for_each_element(device.stream(Queue::compute), r.rows, r.cols, all, "residual");
    return column_dots<T>(device, workspace, r, r, squared_norms);
  }
  const auto whole = [&](LocalIndex, LocalIndex) { return all; };
  sum_columns(device, workspace, r.rows, r.cols, whole, squared_norms, "residual");
}

template void column_dots(CudaDevice&, Workspace&, ConstBlockView<float>, ConstBlockView<float>, const HandOver&);
template void column_dots(CudaDevice&, Workspace&, ConstBlockView<double>, ConstBlockView<double>,
                          const HandOver&);
template void residual(CudaDevice&, Workspace&, ConstBlockView<float>, ConstBlockView<float>, const double*,
                       BlockView<float>, const HandOver&);
template void residual(CudaDevice&, Workspace&, ConstBlockView<double>, ConstBlockView<double>, const double*,
                       BlockView<double>, const HandOver&);

}  // namespace block_eigs::cuda
