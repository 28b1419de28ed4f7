#include "spmm/cuda/dense/gram.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "spmm/cuda/dense/gram_specialized.cuh"
#include "spmm/cuda/dense/hand_over.cuh"
#include "spmm/cuda/dense/narrow_gram.cuh"
#include "spmm/cuda/runtime/early_launch.cuh"

namespace block_eigs::cuda {

namespace {

/// Of one stage, with one thread block a multiprocessor and with two.
constexpr int stage_bytes(int blocks) { return (blocks == 1 ? 48 : 32) * 1024; }

/// One instantiation of the kernel.
template <class T>
struct Variant {
  int threads, copying_threads, left_pairs, right_pairs, elements, rows_at_once, stages, blocks;
  int overhang;  ///< places that warps may read behind a stage
  void (*kernel)(const GramProblem<T>);
};

template <class T, class Tile>
constexpr Variant<T> variant() {
  return {Tile::threads,       Tile::threads,  Tile::left_pairs,
          Tile::right_pairs,   Tile::elements, Tile::rows_at_once,
          Tile::stages,        Tile::blocks,   std::max(Tile::left_pairs, Tile::right_pairs) + 8,
          gram_kernel<T, Tile>};
}

/// The same with warps that only copy.
template <class T, class Tile>
constexpr Variant<T> specialized_variant() {
  Variant<T> result = variant<T, Tile>();
  result.threads += 32 * copying_warps;
  result.copying_threads = 32 * copying_warps;
  result.kernel = specialized_gram_kernel<T, Tile>;
  return result;
}

/// 16 x 16, 32 x 16, 48 x 16, 32 x 32, 64 x 32, 96 x 32, 64 x 48, 80 x 48, 64 x 64, 192 x 64: the first fits any
/// GPU.
template <class T>
constexpr std::array variants{
    variant<T, GramTile<1, 1, 1, 1>>(), variant<T, GramTile<2, 1, 1, 1>>(),
    variant<T, GramTile<3, 1, 1, 1>>(), variant<T, GramTile<2, 1, 1, 2>>(),
    variant<T, GramTile<2, 1, 2, 2>>(), variant<T, GramTile<3, 1, 2, 2>>(),
    variant<T, GramTile<1, 3, 4, 1>>(), variant<T, GramTile<1, 1, 5, 3, 15>>(),
    variant<T, GramTile<2, 1, 2, 4>>(), specialized_variant<T, GramTile<2, 2, 6, 2, 12>>()};

template <class T>
struct Launch {
  const Variant<T>* variant = nullptr;
  int tiles = 0;
  int shared_bytes = 0;
  int stage_rows = 0;
  int stage_places = 0;  ///< overhang included
};

int ceil_div(int a, int b) { return (a + b - 1) / b; }

template <class T>
int pairs_of(const ConstBlockList<T>& list) {
  int pairs = 0;
  for (const ConstBlockView<T>& view : list) pairs += ceil_div(view.cols, 2);
  return pairs;
}

/// The pair of `left` with which `right` begins, where its views follow each other there, else -1.
template <class T>
int common_pairs(const ConstBlockList<T>& left, const ConstBlockList<T>& right) {
  const auto same = [](const ConstBlockView<T>& x, const ConstBlockView<T>& y) {
    return x.data == y.data && x.cols == y.cols && x.stride == y.stride;
  };
  int pairs = 0;
  for (int v = 0; v + right.size() <= left.size(); ++v) {
    if (std::equal(right.begin(), right.end(), left.begin() + v, same)) return pairs;
    pairs += ceil_div(left[v].cols, 2);
  }
  return -1;
}

/// Pairs of a row for eight lanes to copy: as many as the widest view has, so that they are neighbours, but enough
/// for `units` times eight lanes to copy whole rows of `loaded` pairs.
template <class T>
int chunk_pairs(const ConstBlockList<T>& left, const ConstBlockList<T>& right, int loaded, int units) {
  LocalIndex widest = 1;
  for (const ConstBlockView<T>& view : left) widest = std::max(widest, view.cols);
  for (const ConstBlockView<T>& view : right) widest = std::max(widest, view.cols);
  const auto pairs = static_cast<unsigned>(std::min(ceil_div(widest, 2), unit_lanes));
  int chunk = static_cast<int>(std::bit_floor(pairs));
  while (ceil_div(loaded, chunk) > units) chunk *= 2;
  return chunk;
}

/// Seconds a row at the rates of an H200; the order of the variants is what matters.
template <class T>
double cost(const Variant<T>& variant, const GramProblem<T>& problem) {
  const double left = ceil_div(problem.left_pairs, variant.left_pairs);
  const double right = ceil_div(problem.right_pairs, variant.right_pairs);
  const bool right_is_among_left = problem.common >= 0 && left == 1.0;  // in one tile
  const double columns =
      2.0 * (right * problem.left_pairs + (right_is_among_left ? 0.0 : left * problem.right_pairs));
  const double memory = columns * sizeof(T) / 4.0e12;
  const double arithmetic = 2.0 * left * right * variant.elements / 5.0e13;
  return std::max(memory, arithmetic) + 0.25 * std::min(memory, arithmetic);
}

template <class T>
Launch<T> choose(const CudaDevice& device, const GramProblem<T>& problem) {
  Launch<T> best;
  double least = 0.0;
  for (const Variant<T>& candidate : variants<T>) {
    const bool right_is_among_left = problem.common >= 0 && problem.left_pairs <= candidate.left_pairs;
    const int loaded = std::min(candidate.left_pairs, problem.left_pairs) +
                       (right_is_among_left ? 0 : std::min(candidate.right_pairs, problem.right_pairs));
    const int pitch = ceil_div(loaded, 8) * 8;
    const int row_bytes = pitch * static_cast<int>(sizeof(Pair<T>));
    const int turns = std::max(1, stage_bytes(candidate.blocks) / (row_bytes * candidate.rows_at_once));
    Launch<T> launch{&candidate, 0, 0, turns * candidate.rows_at_once, 0};
    launch.tiles =
        ceil_div(problem.left_pairs, candidate.left_pairs) * ceil_div(problem.right_pairs, candidate.right_pairs);
    launch.stage_places = launch.stage_rows * pitch + candidate.overhang;
    const int stages = candidate.stages * launch.stage_places * static_cast<int>(sizeof(Pair<T>));
    launch.shared_bytes = std::max(stages, candidate.elements * static_cast<int>(sizeof(double)));
    const double seconds = cost(candidate, problem);
    if (launch.shared_bytes > device.shared_memory_per_block()) continue;
    if (best.variant == nullptr || seconds < least) {
      best = launch;
      least = seconds;
    }
  }
  return best;
}

/// Thread block (32, adding_warps): each of its warps adds up every 32nd part of 32 elements of the Gram matrix.
/// `transposed`: they are handed over as those of its transpose.
constexpr int adding_warps = 32;
template <class T>
__global__ void __launch_bounds__(32 * adding_warps)
    add_tiles(const __grid_constant__ GramProblem<T> problem, int left_tile, int right_tile, int tiles, int parts,
              bool transposed, const HandOver to) {
  __shared__ double sums[adding_warps][32];
  let_next_begin();
  wait_for_earlier();
  const int k = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  const int row = k % problem.left.cols;
  const int column = k / problem.left.cols;
  double sum = 0.0;
  if (column < problem.right.cols) {
    const int i = padded_column(problem.left, row);
    const int j = padded_column(problem.right, column);
    const std::size_t tile = static_cast<std::size_t>(j / right_tile * problem.tiles_left + i / left_tile);
    const std::size_t elements = static_cast<std::size_t>(left_tile * right_tile);
    const double* part = problem.partial + tile * elements + j % right_tile * left_tile + i % left_tile;
#pragma unroll 9  // parts of 132 multiprocessors with 2 blocks, at once
    for (int p = static_cast<int>(threadIdx.y); p < parts; p += adding_warps) {
      sum += part[static_cast<std::size_t>(p) * static_cast<std::size_t>(tiles) * elements];
    }
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0 && column < problem.right.cols) {
    for (int w = 1; w < adding_warps; ++w) sum += sums[w][threadIdx.x];
    to.results[transposed ? row * problem.right.cols + column : k] = sum;
  }
  announce_with_others(to);
}

/// One launch for all of it.
template <class T>
void narrow_gram(CudaDevice& device, Workspace& workspace, const ConstBlockList<T>& left,
                 const ConstBlockList<T>& right, const HandOver& to) {
  constexpr int threads = 768;
  constexpr int steps = 4;
  constexpr int block_rows = threads / 32 * steps * step_rows;
  const int enough = left.rows() == 0 ? 1 : (left.rows() - 1) / block_rows + 1;
  const int parts = std::min(device.multiprocessors(), enough);
  double* partial = workspace.partial_sums(static_cast<std::size_t>(parts) * narrow_elements);
  narrow_gram_kernel<T, threads, steps>
      <<<static_cast<unsigned>(parts), threads, 0, device.stream(Queue::compute)>>>(
          {DeviceList(left), DeviceList(right), has_even_pairs(left), partial, to});
  check_launch("gram");
}

/// In tiles; `transposed` hands over [right]^T [left].
template <class T>
void tiled_gram(CudaDevice& device, Workspace& workspace, const ConstBlockList<T>& left,
                const ConstBlockList<T>& right, bool transposed, const HandOver& to) {
  GramProblem<T> problem{DeviceList(left),         DeviceList(right), pairs_of(left), pairs_of(right), 0,
                         common_pairs(left, right)};
  const Launch<T> launch = choose(device, problem);
  const Variant<T>& variant = *launch.variant;
  problem.tiles_left = ceil_div(problem.left_pairs, variant.left_pairs);
  problem.stage_rows = launch.stage_rows;
  problem.stage_places = launch.stage_places;
  problem.even = has_even_pairs(left) && has_even_pairs(right);
  const int loaded =
      std::min(variant.left_pairs, problem.left_pairs) + std::min(variant.right_pairs, problem.right_pairs);
  problem.chunk_pairs = chunk_pairs(left, right, loaded, variant.copying_threads / unit_lanes);
  const int enough = left.rows() == 0 ? 1 : (left.rows() - 1) / launch.stage_rows + 1;
  const int parts = std::clamp(device.multiprocessors() * variant.blocks / launch.tiles, 1, enough);
  const std::size_t elements = static_cast<std::size_t>(launch.tiles) * static_cast<std::size_t>(variant.elements);
  problem.partial = workspace.partial_sums(static_cast<std::size_t>(parts) * elements);

  device.allow_shared_memory(reinterpret_cast<const void*>(variant.kernel), launch.shared_bytes);
  const cudaStream_t stream = device.stream(Queue::compute);
  const dim3 grid(static_cast<unsigned>(parts), static_cast<unsigned>(launch.tiles));
  variant.kernel<<<grid, static_cast<unsigned>(variant.threads), static_cast<std::size_t>(launch.shared_bytes),
                   stream>>>(problem);
  check_launch("gram");
  const unsigned blocks = static_cast<unsigned>(ceil_div(left.cols() * right.cols(), 32));
  launch_early(device.launches_early(), add_tiles<T>, blocks, dim3(32, adding_warps), 0, stream, "gram", problem,
               2 * variant.left_pairs, 2 * variant.right_pairs, launch.tiles, parts, transposed, to);
}

}  // namespace

template <class T>
void gram(CudaDevice& device, Workspace& workspace, const ConstBlockList<T>& left, const ConstBlockList<T>& right,
          const HandOver& to) {
  if (left.cols() == 0 || right.cols() == 0) return;
  if (pairs_of(left) <= narrow_left_pairs && right.cols() <= narrow_right_columns)
    return narrow_gram(device, workspace, left, right, to);
  // What both sides have is read once where the right is a part of the left.
  const bool left_is_among_right = common_pairs(left, right) < 0 && common_pairs(right, left) >= 0;
  if (left_is_among_right) return tiled_gram(device, workspace, right, left, true, to);
  tiled_gram(device, workspace, left, right, false, to);
}

template void gram(CudaDevice&, Workspace&, const ConstBlockList<float>&, const ConstBlockList<float>&,
                   const HandOver&);
template void gram(CudaDevice&, Workspace&, const ConstBlockList<double>&, const ConstBlockList<double>&,
                   const HandOver&);

}  // namespace block_eigs::cuda
