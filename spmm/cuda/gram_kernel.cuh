#pragma once

#include "spmm/cuda/async_copy.cuh"
#include "spmm/cuda/device_list.cuh"
#include "spmm/cuda/tensor_core.cuh"

// A thread block adds up one tile of the Gram matrix over its share of the rows, on the FP64 tensor cores. Stages
// of some rows travel through shared memory, several at a time; a column pair of four rows lies there the way the
// lanes of a warp take it, so that neither copies nor reads meet bank conflicts and nothing is padded.
namespace block_eigs::cuda {

constexpr int gram_threads = 256;
constexpr int gram_warps = gram_threads / 32;
constexpr int group_rows = 4;  ///< rows of one fragment of a tensor core operand

/// Tile of the Gram matrix that a thread block makes: LeftWarps x RightWarps warps, each with LeftFragments x
/// RightFragments fragments of 16 x 16; the remaining factor of the warps shares the rows out.
template <int LeftFragments, int RightFragments, int LeftWarps, int RightWarps>
struct GramTile {
  static constexpr int left_fragments = LeftFragments;
  static constexpr int right_fragments = RightFragments;
  static constexpr int left_warps = LeftWarps;
  static constexpr int right_warps = RightWarps;
  static constexpr int row_warps = gram_warps / (LeftWarps * RightWarps);
  static constexpr int left_pairs = 8 * LeftFragments * LeftWarps;
  static constexpr int right_pairs = 8 * RightFragments * RightWarps;
  static constexpr int elements = 4 * left_pairs * right_pairs;
  /// Fragments of eight rows at a time go round among the warps that share the rows.
  static constexpr int groups_at_once = 2 * row_warps;
  static constexpr int blocks = LeftFragments * RightFragments > 3 ? 1 : 2;  ///< per multiprocessor
  static constexpr int stages = blocks == 1 ? 6 : 3;
};

template <class T>
struct GramProblem {
  DeviceList<ConstBlockView<T>> left;
  DeviceList<ConstBlockView<T>> right;
  int left_pairs = 0;  ///< each view begins a pair
  int right_pairs = 0;
  int tiles_left = 0;
  int common = -1;            ///< pair of the left with which the right begins, where it is a part of the left
  int groups = 0;             ///< of four rows in a stage
  double* partial = nullptr;  ///< gridDim.x times gridDim.y tiles, column-major
};

/// Column pairs that a thread block reads: those of the left, then those of the right that are not among them.
struct GramPairs {
  int left_begin, left_count, right_begin, right_count;
  int right_at;  ///< place of the first pair of the right in a stage
  int loaded;

  template <class Tile, class T>
  __device__ static GramPairs of(const GramProblem<T>& problem) {
    const int tile = static_cast<int>(blockIdx.y);
    GramPairs pairs{};
    pairs.left_begin = tile % problem.tiles_left * Tile::left_pairs;
    pairs.left_count = min(Tile::left_pairs, problem.left_pairs - pairs.left_begin);
    pairs.right_begin = tile / problem.tiles_left * Tile::right_pairs;
    pairs.right_count = min(Tile::right_pairs, problem.right_pairs - pairs.right_begin);
    const int among = problem.common + pairs.right_begin - pairs.left_begin;
    if (problem.common >= 0 && among >= 0 && among + pairs.right_count <= pairs.left_count) {
      pairs.right_at = among;
      pairs.loaded = pairs.left_count;
    } else {
      pairs.right_at = pairs.left_count;
      pairs.loaded = pairs.left_count + pairs.right_count;
    }
    return pairs;
  }
};

/// Column pair number `pair` of a list.
template <class T>
__device__ Columns<const T> pair_of(const DeviceList<ConstBlockView<T>>& list, int pair) {
  int v = 0;
  while (2 * pair >= (list.views[v].cols + 1) / 2 * 2) pair -= (list.views[v++].cols + 1) / 2;
  const ConstBlockView<T>& view = list.views[v];
  return {view.data + 2 * pair, view.stride, static_cast<std::int16_t>(min(2, view.cols - 2 * pair)),
          static_cast<std::int16_t>(pairs_are_aligned(view.data, view.stride))};
}

/// Starts the copies of one stage: `groups` x 4 rows from `row` on. Rows behind the last one become zero.
template <class T>
__device__ void copy_stage(Pair<T>* stage, const Columns<const T>* columns, int loaded, int groups, Row row,
                           Row rows) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int octets = (loaded + 7) / 8;  // of pairs: what a warp copies of four rows
  int group = static_cast<int>(threadIdx.x / 32) / octets;
  int octet = static_cast<int>(threadIdx.x / 32) % octets;
  const int group_step = gram_warps / octets;
  const int octet_step = gram_warps % octets;
  row += static_cast<Row>(lane % 4);
  while (group < groups) {
    const int pair = 8 * octet + lane / 4;
    if (pair < loaded) {
      const Row from = row + static_cast<Row>(group * group_rows);
      copy_pair_async(stage + (group * loaded + pair) * group_rows + lane % 4, columns[pair], from, 0,
                      from < rows);
    }
    group += group_step;
    octet += octet_step;
    if (octet >= octets) {
      octet -= octets;
      ++group;
    }
  }
}

/// Sums of one warp: [left fragment][right fragment, even or odd columns].
template <class Tile>
using GramSums = double[Tile::left_fragments][2 * Tile::right_fragments][4];

/// Adds the products of eight rows. `left` and `right` point to this lane's pairs of the first four of them.
template <class Tile, class T>
__device__ inline void multiply_rows(GramSums<Tile>& sums, const Pair<T>* left, const Pair<T>* right,
                                     int group_size) {
  double a[Tile::left_fragments][4];
#pragma unroll
  for (int i = 0; i < Tile::left_fragments; ++i) {
    const Pair<T> upper = left[32 * i];
    const Pair<T> lower = left[32 * i + group_size];
    a[i][0] = static_cast<double>(upper.first);
    a[i][1] = static_cast<double>(upper.second);
    a[i][2] = static_cast<double>(lower.first);
    a[i][3] = static_cast<double>(lower.second);
  }
#pragma unroll
  for (int j = 0; j < Tile::right_fragments; ++j) {
    const Pair<T> upper = right[32 * j];
    const Pair<T> lower = right[32 * j + group_size];
    const double even[2] = {static_cast<double>(upper.first), static_cast<double>(lower.first)};
    const double odd[2] = {static_cast<double>(upper.second), static_cast<double>(lower.second)};
#pragma unroll
    for (int i = 0; i < Tile::left_fragments; ++i) {
      multiply_add(sums[i][2 * j], a[i], even);
      multiply_add(sums[i][2 * j + 1], a[i], odd);
    }
  }
}

/// Adds this warp's sums to the tile, column-major in shared memory, or begins the tile with them.
template <class Tile>
__device__ void add_to_tile(double* tile, const GramSums<Tile>& sums, int left_warp, int right_warp, bool begin) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int i = 0; i < Tile::left_fragments; ++i) {
#pragma unroll
    for (int j = 0; j < 2 * Tile::right_fragments; ++j) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int left_pair = 8 * (left_warp * Tile::left_fragments + i) + lane / 4;
        const int right_pair = 8 * (right_warp * Tile::right_fragments + j / 2) + 2 * (lane % 4) + k % 2;
        double& element = tile[(2 * right_pair + j % 2) * 2 * Tile::left_pairs + 2 * left_pair + k / 2];
        element = begin ? sums[i][j][k] : element + sums[i][j][k];
      }
    }
  }
}

/// Adds up the warps that shared the rows, in order, and writes the tile of this block.
template <class Tile>
__device__ void write_tile(double* tile, const GramSums<Tile>& sums, int left_warp, int right_warp, int row_warp,
                           double* partial) {
  for (int w = 0; w < Tile::row_warps; ++w) {
    __syncthreads();
    if (row_warp == w) add_to_tile<Tile>(tile, sums, left_warp, right_warp, w == 0);
  }
  __syncthreads();
  const std::size_t number = static_cast<std::size_t>(blockIdx.x) * gridDim.y + blockIdx.y;
  double* mine = partial + number * Tile::elements;
  for (int k = static_cast<int>(threadIdx.x); k < Tile::elements; k += gram_threads) mine[k] = tile[k];
}

template <class T, class Tile>
__global__ void __launch_bounds__(gram_threads, Tile::blocks)
    gram_kernel(const __grid_constant__ GramProblem<T> problem) {
  extern __shared__ __align__(16) unsigned char shared[];
  const GramPairs pairs = GramPairs::of<Tile>(problem);
  auto* columns = reinterpret_cast<Columns<const T>*>(shared);
  auto* buffer = reinterpret_cast<Pair<T>*>(columns + Tile::left_pairs + Tile::right_pairs);
  for (int p = static_cast<int>(threadIdx.x); p < pairs.left_count + pairs.right_count; p += gram_threads) {
    columns[p] = p < pairs.left_count ? pair_of(problem.left, pairs.left_begin + p)
                                      : pair_of(problem.right, pairs.right_begin + p - pairs.left_count);
  }
  __syncthreads();

  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int left_warp = warp % Tile::left_warps;
  const int right_warp = warp / Tile::left_warps % Tile::right_warps;
  const int row_warp = warp / (Tile::left_warps * Tile::right_warps);
  const int group_size = pairs.loaded * group_rows;
  const int stage_size = problem.groups * group_size;
  const int left_at = 32 * Tile::left_fragments * left_warp + lane;
  const int right_at = pairs.right_at * group_rows + 32 * Tile::right_fragments * right_warp + lane;
  const Row rows = static_cast<Row>(problem.left.rows);
  const Row stage_rows = static_cast<Row>(problem.groups * group_rows);
  const Row step = gridDim.x * stage_rows;
  Row ahead = blockIdx.x * stage_rows;
  for (int s = 0; s < Tile::stages - 1; ++s, ahead += step) {
    copy_stage(buffer + s * stage_size, columns, pairs.loaded, problem.groups, ahead, rows);
    close_copies();
  }
  GramSums<Tile> sums = {};
  int full = 0;
  int free = Tile::stages - 1;
  for (Row row = blockIdx.x * stage_rows; row < rows; row += step, ahead += step) {
    wait_for_copies<Tile::stages - 2>();
    __syncthreads();  // all threads' copies have arrived, and all are done with the stage that is filled next
    if (ahead < rows) copy_stage(buffer + free * stage_size, columns, pairs.loaded, problem.groups, ahead, rows);
    close_copies();
    const Pair<T>* stage = buffer + full * stage_size;
    for (int group = 2 * row_warp; group < problem.groups; group += Tile::groups_at_once) {
      multiply_rows<Tile>(sums, stage + group * group_size + left_at, stage + group * group_size + right_at,
                          group_size);
    }
    full = full + 1 == Tile::stages ? 0 : full + 1;
    free = free + 1 == Tile::stages ? 0 : free + 1;
  }
  wait_for_copies<0>();
  write_tile<Tile>(reinterpret_cast<double*>(buffer), sums, left_warp, right_warp, row_warp, problem.partial);
}

}  // namespace block_eigs::cuda
