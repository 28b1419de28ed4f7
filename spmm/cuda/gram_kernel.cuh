#pragma once

#include "spmm/cuda/async_copy.cuh"
#include "spmm/cuda/device_list.cuh"
#include "spmm/cuda/tensor_core.cuh"

// A thread block adds up one tile of the Gram matrix over its share of the rows, on the FP64 tensor cores. Stages
// of some rows travel through shared memory, several at a time. Eight neighbouring lanes copy 128 neighbouring
// bytes; which place a pair takes in its row of a stage depends on the row in such a way that neither copies nor
// reads meet bank conflicts. What counts is the number of instructions a copy takes, not only its bytes.
namespace block_eigs::cuda {

constexpr int step_rows = 8;   ///< rows that a warp multiplies at a time
constexpr int unit_lanes = 8;  ///< what copies 128 bytes of doubles

/// Tile of the Gram matrix that a thread block makes: LeftWarps x RightWarps of its warps, each with LeftFragments
/// x RightFragments fragments of 16 x 16; the remaining factor of the warps shares the rows out.
template <int LeftFragments, int RightFragments, int LeftWarps, int RightWarps, int Warps = 8>
struct GramTile {
  static constexpr int threads = 32 * Warps;
  static constexpr int left_fragments = LeftFragments;
  static constexpr int right_fragments = RightFragments;
  static constexpr int left_warps = LeftWarps;
  static constexpr int right_warps = RightWarps;
  static constexpr int row_warps = Warps / (LeftWarps * RightWarps);
  static constexpr int left_pairs = 8 * LeftFragments * LeftWarps;
  static constexpr int right_pairs = 8 * RightFragments * RightWarps;
  static constexpr int elements = 4 * left_pairs * right_pairs;
  /// Eight rows at a time go round among the warps that share the rows.
  static constexpr int rows_at_once = step_rows * row_warps;
  static constexpr int blocks = LeftFragments * RightFragments > 3 ? 1 : 2;  ///< per multiprocessor
  static constexpr int stages = blocks == 1 ? 4 : 3;
};

template <class T>
struct GramProblem {
  DeviceList<ConstBlockView<T>> left;
  DeviceList<ConstBlockView<T>> right;
  int left_pairs = 0;  ///< each view begins a pair
  int right_pairs = 0;
  int tiles_left = 0;
  int common = -1;            ///< pair of the left with which the right begins, where it is a part of the left
  int stage_rows = 0;         ///< a multiple of eight
  int stage_places = 0;       ///< of a stage, and of what warps read behind its end without using it
  int chunk_pairs = 0;        ///< 1, 2, 4 or 8: neighbouring pairs of a row that neighbouring lanes copy
  bool even = false;          ///< all views have even columns and pairs at multiples of their size
  double* partial = nullptr;  ///< gridDim.x times gridDim.y tiles, column-major
};

/// Column pairs that a thread block reads: those of the left, then those of the right that are not among them.
struct GramPairs {
  int left_begin, left_count, right_begin, right_count;
  int right_at;  ///< place of the first pair of the right in a row of a stage
  int loaded;
  int pitch;  ///< places of a row of a stage: a multiple of eight

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
    pairs.pitch = (pairs.loaded + 7) / 8 * 8;
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

/// Place of a pair in its row of a stage. Any eight pairs that lanes copy or read at once lie on different banks:
/// those of one row, four of each of two rows, and two of each of four.
__device__ inline int place_of(int pair, int row) { return pair ^ (4 * (row % 2) + row / 2 % 2 * 2); }

/// What one thread copies of each stage: one column pair of every `step_`-th row.
template <class T>
class StageCopier {
 public:
  __device__ StageCopier(const GramProblem<T>& problem, const GramPairs& pairs, int threads)
      : rows_(static_cast<Row>(problem.left.rows)), stage_rows_(problem.stage_rows), pitch_(pairs.pitch) {
    const int lane = static_cast<int>(threadIdx.x) % unit_lanes;
    const int unit = static_cast<int>(threadIdx.x) / unit_lanes;
    const int unit_rows = unit_lanes / problem.chunk_pairs;
    const int chunks = (pairs.loaded + problem.chunk_pairs - 1) / problem.chunk_pairs;
    const int units_down = threads / unit_lanes / chunks;
    pair_ = unit % chunks * problem.chunk_pairs + lane % problem.chunk_pairs;
    first_ = unit / chunks * unit_rows + lane / problem.chunk_pairs;
    step_ = units_down * unit_rows;
    if (unit >= units_down * chunks || pair_ >= pairs.loaded) {
      first_ = stage_rows_;  // nothing to copy
      return;
    }
    const bool left = pair_ < pairs.left_count;
    columns_ = left ? pair_of(problem.left, pairs.left_begin + pair_)
                    : pair_of(problem.right, pairs.right_begin + pair_ - pairs.left_count);
  }

  /// Starts the copies of the stage that begins with `row`. Rows behind the last one become zero.
  __device__ void start(Pair<T>* stage, Row row, bool even) const {
    if (even && row + static_cast<Row>(stage_rows_) <= rows_) {
      start_whole(stage, row);
      return;
    }
    for (int r = first_; r < stage_rows_; r += step_) {
      const Row from = row + static_cast<Row>(r);
      copy_pair_async(stage + r * pitch_ + place_of(pair_, r), columns_, from, 0, from < rows_);
    }
  }

 private:
  __device__ void start_whole(Pair<T>* stage, Row row) const {
    const Row stride = static_cast<Row>(columns_.stride);
    const T* from = columns_.data + static_cast<std::size_t>(row + static_cast<Row>(first_)) * stride;
    const std::size_t ahead = static_cast<std::size_t>(step_) * stride;
    Pair<T>* to = stage + first_ * pitch_;
    const int down = step_ * pitch_;
#pragma unroll 4
    for (int r = first_; r < stage_rows_; r += step_, from += ahead, to += down) {
      copy_aligned_pair(to + place_of(pair_, r), from, true);
    }
  }

  Row rows_;
  int stage_rows_;
  int pitch_;
  int pair_ = 0;
  int first_ = 0;
  int step_ = 0;
  Columns<const T> columns_;
};

/// Sums of one warp: [left fragment][right fragment, even or odd columns].
template <class Tile>
using GramSums = double[Tile::left_fragments][2 * Tile::right_fragments][4];

/// Adds the products of eight rows. `left` and `right` point to this lane's pairs in one of the first four of
/// them; `below` is the way to those four rows further down.
template <class Tile, class T>
__device__ inline void multiply_rows(GramSums<Tile>& sums, const Pair<T>* left, const Pair<T>* right, int below) {
  double a[Tile::left_fragments][4];
#pragma unroll
  for (int i = 0; i < Tile::left_fragments; ++i) {
    const Pair<T> upper = left[8 * i];
    const Pair<T> lower = left[8 * i + below];
    a[i][0] = static_cast<double>(upper.first);
    a[i][1] = static_cast<double>(upper.second);
    a[i][2] = static_cast<double>(lower.first);
    a[i][3] = static_cast<double>(lower.second);
  }
#pragma unroll
  for (int j = 0; j < Tile::right_fragments; ++j) {
    const Pair<T> upper = right[8 * j];
    const Pair<T> lower = right[8 * j + below];
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
  for (int k = static_cast<int>(threadIdx.x); k < Tile::elements; k += Tile::threads) mine[k] = tile[k];
}

template <class T, class Tile>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks)
    gram_kernel(const __grid_constant__ GramProblem<T> problem) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto* buffer = reinterpret_cast<Pair<T>*>(shared);
  const GramPairs pairs = GramPairs::of<Tile>(problem);
  const StageCopier<T> copier(problem, pairs, Tile::threads);

  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int left_warp = warp % Tile::left_warps;
  const int right_warp = warp / Tile::left_warps % Tile::right_warps;
  const int row_warp = warp / (Tile::left_warps * Tile::right_warps);
  const int stage_size = problem.stage_places;
  const int row_of_lane = step_rows * row_warp + lane % 4;
  const int left_pair = 8 * Tile::left_fragments * left_warp + lane / 4;
  const int right_pair = pairs.right_at + 8 * Tile::right_fragments * right_warp + lane / 4;
  const int left_at = row_of_lane * pairs.pitch + place_of(left_pair, row_of_lane);
  const int right_at = row_of_lane * pairs.pitch + place_of(right_pair, row_of_lane);
  const Row rows = static_cast<Row>(problem.left.rows);
  const Row stage_rows = static_cast<Row>(problem.stage_rows);
  const Row step = gridDim.x * stage_rows;
  Row ahead = blockIdx.x * stage_rows;
  for (int s = 0; s < Tile::stages - 1; ++s, ahead += step) {
    copier.start(buffer + s * stage_size, ahead, problem.even);
    close_copies();
  }
  GramSums<Tile> sums = {};
  int full = 0;
  int free = Tile::stages - 1;
  for (Row row = blockIdx.x * stage_rows; row < rows; row += step, ahead += step) {
    wait_for_copies<Tile::stages - 2>();
    __syncthreads();  // all threads' copies have arrived, and all are done with the stage that is filled next
    if (ahead < rows) copier.start(buffer + free * stage_size, ahead, problem.even);
    close_copies();
    const Pair<T>* left = buffer + full * stage_size + left_at;
    const Pair<T>* right = buffer + full * stage_size + right_at;
    const int down = Tile::rows_at_once * pairs.pitch;
#pragma unroll 2
    for (int r = step_rows * row_warp; r < problem.stage_rows;
         r += Tile::rows_at_once, left += down, right += down) {
      multiply_rows<Tile>(sums, left, right, 4 * pairs.pitch);
    }
    full = full + 1 == Tile::stages ? 0 : full + 1;
    free = free + 1 == Tile::stages ? 0 : free + 1;
  }
  wait_for_copies<0>();
  write_tile<Tile>(reinterpret_cast<double*>(buffer), sums, left_warp, right_warp, row_warp, problem.partial);
}

}  // namespace block_eigs::cuda
