#pragma once

#include "spmm/cuda/dense/gram_stages.cuh"
#include "spmm/cuda/dense/hand_over.cuh"
#include "spmm/cuda/dense/tensor_core.cuh"

// Gram matrices of at most 16 x 8: lanes read what they multiply straight from device memory, many rows at a time,
// and the last thread block to finish adds up what all of them found. One launch, no stages: blocks as narrow as
// these are read within 100 us or so, and every further step shows.
namespace block_eigs::cuda {

constexpr int narrow_left_pairs = 8;
constexpr int narrow_right_columns = 8;
constexpr int narrow_elements = 2 * narrow_left_pairs * narrow_right_columns;

template <class T>
struct NarrowGram {
  DeviceList<ConstBlockView<T>> left;  ///< at most narrow_left_pairs pairs
  DeviceList<ConstBlockView<T>> right;
  bool even;        ///< all of the left has even columns and pairs at multiples of their size
  double* partial;  ///< gridDim.x times narrow_elements
  HandOver to;
};

/// What lanes without a pair or column read in place of one: the first. What comes of it is not used.
template <class T>
__device__ Columns<const T> pair_or_first(const DeviceList<ConstBlockView<T>>& list, int pair) {
  int pairs = 0;
  for (int v = 0; v < list.size; ++v) pairs += (list.views[v].cols + 1) / 2;
  return pair_of(list, pair < pairs ? pair : 0);
}

template <class T>
__device__ Columns<const T> column_or_first(const DeviceList<ConstBlockView<T>>& list, int column) {
  if (column >= list.cols) column = 0;
  int v = 0;
  while (column >= list.views[v].cols) column -= list.views[v++].cols;
  return {list.views[v].data + column, list.views[v].stride, 1, 0};
}

template <class T>
__device__ inline Pair<T> load_pair(const T* from, bool whole, int count) {
  if (whole) return *reinterpret_cast<const Pair<T>*>(from);
  return {count > 0 ? from[0] : T{0}, count > 1 ? from[1] : T{0}};
}

/// Adds the products of 8 Steps rows from `first` on: this lane reads row t = lane % 4 of every four.
template <int Steps, bool Whole, class T>
__device__ inline void add_rows(double (&sums)[4], const Columns<const T>& left, const Columns<const T>& right,
                                Row first, Row rows) {
  Pair<T> a[2 * Steps];
  T b[2 * Steps];
  const Row row = first + threadIdx.x % 4;
  const T* const from_left = left.data + static_cast<std::size_t>(row) * static_cast<Row>(left.stride);
  const T* const from_right = right.data + static_cast<std::size_t>(row) * static_cast<Row>(right.stride);
#pragma unroll
  for (int k = 0; k < 2 * Steps; ++k) {
    const bool present = Whole || row + 4 * k < rows;
    a[k] = load_pair(from_left + static_cast<std::size_t>(4 * k) * static_cast<Row>(left.stride), Whole,
                     present ? left.count : 0);
    b[k] = present ? from_right[static_cast<std::size_t>(4 * k) * static_cast<Row>(right.stride)] : T{0};
  }
#pragma unroll
  for (int k = 0; k < 2 * Steps; k += 2) {
    const double upper_and_lower[4] = {static_cast<double>(a[k].first), static_cast<double>(a[k].second),
                                       static_cast<double>(a[k + 1].first), static_cast<double>(a[k + 1].second)};
    const double both[2] = {static_cast<double>(b[k]), static_cast<double>(b[k + 1])};
    multiply_add(sums, upper_and_lower, both);
  }
}

/// The last block adds up all blocks' parts and hands the Gram matrix over.
template <int Threads, class T>
__device__ void add_parts(const NarrowGram<T>& problem, double* shared) {
  constexpr int groups = Threads / narrow_elements;
  const int k = static_cast<int>(threadIdx.x) % narrow_elements;
  const int parts = static_cast<int>(gridDim.x);
  double sum = 0.0;
#pragma unroll 11  // half of what 132 multiprocessors leave
  for (int p = static_cast<int>(threadIdx.x) / narrow_elements; p < parts; p += groups) {
    sum += __ldcg(problem.partial + p * narrow_elements + k);
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  const int element = static_cast<int>(threadIdx.x);
  if (element < problem.left.cols * problem.right.cols) {
    const int place = element / problem.left.cols * 2 * narrow_left_pairs +
                      padded_column(problem.left, element % problem.left.cols);
    double total = 0.0;
    for (int group = 0; group < groups; ++group) total += shared[group * narrow_elements + place];
    problem.to.results[element] = total;
  }
  announce(problem.to);
}

template <class T, int Threads, int Steps>
__global__ void __launch_bounds__(Threads, 1) narrow_gram_kernel(const __grid_constant__ NarrowGram<T> problem) {
  constexpr int warps = Threads / 32;
  constexpr Row warp_rows = step_rows * Steps;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const Columns<const T> left = pair_or_first(problem.left, lane / 4);
  const Columns<const T> right = column_or_first(problem.right, lane / 4);
  const Row rows = static_cast<Row>(problem.left.rows);
  double sums[4] = {};
  for (Row row = (blockIdx.x * warps + threadIdx.x / 32) * warp_rows; row < rows;
       row += gridDim.x * warps * warp_rows) {
    if (problem.even && row + warp_rows <= rows) {
      add_rows<Steps, true>(sums, left, right, row, rows);
    } else {
      add_rows<Steps, false>(sums, left, right, row, rows);
    }
  }
  __shared__ double tiles[warps][narrow_elements];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    tiles[warp][(2 * (lane % 4) + k % 2) * 2 * narrow_left_pairs + 2 * (lane / 4) + k / 2] = sums[k];
  }
  __syncthreads();
  if (threadIdx.x < narrow_elements) {
    double sum = 0.0;
#pragma unroll
    for (int w = 0; w < warps; ++w) sum += tiles[w][threadIdx.x];
    problem.partial[blockIdx.x * narrow_elements + threadIdx.x] = sum;
  }
  if (is_last_block(problem.to.arrived)) add_parts<Threads>(problem, tiles[0]);
}

}  // namespace block_eigs::cuda
