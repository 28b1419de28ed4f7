#pragma once

#include "spmm/cuda/dense/async_copy.cuh"
#include "spmm/cuda/dense/device_list.cuh"

// How Gram kernels see their blocks: as column pairs, of which stages of some rows travel through shared memory.
// Eight neighbouring lanes copy 128 neighbouring bytes; which place a pair takes in its row of a stage depends on
// the row in such a way that neither copies nor reads meet bank conflicts. What counts is the number of
// instructions a copy takes, not only its bytes.
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

/// Place of column `column` among pairs that begin anew with each view.
template <class T>
__device__ inline int padded_column(const DeviceList<ConstBlockView<T>>& list, int column) {
  int padded = 0;
  for (int v = 0; column >= list.views[v].cols; ++v) {
    column -= list.views[v].cols;
    padded += (list.views[v].cols + 1) / 2 * 2;
  }
  return padded + column;
}

/// Place of a pair in its row of a stage. Any eight pairs that lanes copy or read at once lie on different banks:
/// those of one row, four of each of two rows, and two of each of four.
__device__ inline int place_of(int pair, int row) { return pair ^ (4 * (row % 2) + row / 2 % 2 * 2); }

/// What one thread copies of each stage: one column pair of every `step_`-th row.
template <class T>
class StageCopier {
 public:
  /// By thread `thread` of `threads` that share the work.
  __device__ StageCopier(const GramProblem<T>& problem, const GramPairs& pairs, int thread, int threads)
      : rows_(static_cast<Row>(problem.left.rows)), stage_rows_(problem.stage_rows), pitch_(pairs.pitch) {
    const int lane = thread % unit_lanes;
    const int unit = thread / unit_lanes;
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

}  // namespace block_eigs::cuda
