#pragma once

#include <algorithm>
#include <type_traits>

#include "spmm/cuda/runtime/cuda_check.hpp"
#include "spmm/cuda/sparse/spmm_merge.cuh"
#include "spmm/cuda/sparse/spmm_plan.hpp"
#include "spmm/cuda/sparse/spmm_row_split.cuh"
#include "spmm/cuda/sparse/spmm_tensor.cuh"

namespace block_eigs::cuda {

/// Of what is known of runs of 2^i, the most that one of `tile` may have, which is 2048 or less, or a power of
/// two.
inline Offset at_size(const std::vector<Offset>& most, LocalIndex tile) {
  std::size_t i = 0;
  while ((LocalIndex{1} << i) < tile && i + 1 < most.size()) ++i;
  return most[i];
}

/// One product on its way to a kernel. Operands: DenseOperands, or StepOperands where a step is taken along.
template <class T, class Operands>
struct SpmmCall {
  CudaSpmmPlan& plan;
  std::shared_ptr<Device> device;
  cudaStream_t stream;
  int multiprocessors;
  RowBundles<T> a;
  EmptyRows empty;
  Operands x;
  int slabs = 1;               ///< passes over A, each for packs_per_slab packs of a row of B
  bool only_reserves = false;  ///< memory for such a product; nothing is launched

  Offset columns_in_tile(LocalIndex tile) const { return at_size(plan.most_columns, tile); }
  Offset values_in_tile(LocalIndex tile) const { return at_size(plan.most_values, tile); }
};

/// Blocks that clear empty rows, a few for each multiprocessor at most.
template <class T, class Operands>
EmptyRows with_blocks(const SpmmCall<T, Operands>& call, int rows_at_once) {
  EmptyRows empty = call.empty;
  empty.blocks =
      static_cast<unsigned>(std::min((empty.count + rows_at_once - 1) / rows_at_once, 4 * call.multiprocessors));
  return empty;
}

inline int blocks_of(LocalIndex count, int tile) {
  return static_cast<int>((static_cast<Offset>(count) + tile - 1) / tile);
}

/// Power of two, at most `limit`, that is `wish` or the next below it.
inline int power_below(double wish, int limit) {
  int result = 1;
  while (2 * result <= wish && 2 * result <= limit) result *= 2;
  return result;
}

/// The most shared memory that `staged_row_split` asks for.
inline constexpr std::size_t staging_limit = 56 * 1024;

/// Bundles per tile of staged_row_split, about `work` values a thread and no more than `most_rounds` bundles a
/// group, or 0 where a tile would not fit in shared memory.
template <class T, int L, int Threads, class Operands>
LocalIndex staged_tile(const SpmmCall<T, Operands>& call, double work, int most_rounds, std::size_t& bytes,
                       int& column_capacity) {
  constexpr int groups = Threads / L;
  const double bundle_values = static_cast<double>(call.plan.statistics.nonzeros) / call.a.count;
  // Enough to keep the copies wide, few enough for many blocks on a multiprocessor and for all of them to have
  // work.
  const double by_work = work * Threads / (groups * bundle_values);
  const double by_blocks = static_cast<double>(call.a.count) / (groups * 4.0 * call.multiprocessors);
  const int rounds = power_below(std::min(by_work, by_blocks), most_rounds);
  for (int tile = groups * rounds; tile >= groups; tile /= 2) {
    column_capacity = static_cast<int>(
        std::min<Offset>((StagedElements<LocalIndex, L>::room(call.columns_in_tile(tile)) + 3) / 4 * 4, 1 << 20));
    const Offset values = (StagedElements<T, L>::room(call.values_in_tile(tile)) + 3) / 4 * 4;
    bytes = static_cast<std::size_t>(column_capacity) * sizeof(LocalIndex) +
            static_cast<std::size_t>(values) * sizeof(T);
    if (bytes <= staging_limit) return tile;
  }
  return 0;
}

/// False where the rows are too long for it.
template <class T, int W, int L, int P, int R, int U, int Threads, int MinBlocks, class Operands>
bool launch_staged_row_split(const SpmmCall<T, Operands>& call, double work, int most_rounds = 16) {
  std::size_t bytes = 0;
  int column_capacity = 0;
  const LocalIndex tile = staged_tile<T, L, Threads>(call, work, most_rounds, bytes, column_capacity);
  if (tile == 0) return false;
  const auto kernel = staged_row_split<T, W, L, P, R, U, Threads, MinBlocks, Operands>;
  if (bytes > 48 * 1024) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
          "shared memory of the row-split SpMM");
  }
  const EmptyRows empty = with_blocks(call, Threads / L);
  const dim3 grid(static_cast<unsigned>(blocks_of(call.a.count, tile)) + empty.blocks,
                  static_cast<unsigned>(call.slabs));
  kernel<<<grid, Threads, bytes, call.stream>>>(call.a, call.x, empty, tile, column_capacity);
  check_launch("row-split SpMM");
  return true;
}

template <class T, int W, int L, int P, int R, int Split, int U, int Threads, int MinBlocks, class Operands>
void launch_direct_row_split(const SpmmCall<T, Operands>& call) {
  constexpr int at_once = Threads / (L * Split);
  const EmptyRows empty = with_blocks(call, Threads / L);
  const double rounds = static_cast<double>(call.a.count) / (at_once * 8.0 * call.multiprocessors);
  const int tile = at_once * power_below(rounds, 4);
  const dim3 grid(static_cast<unsigned>(blocks_of(call.a.count, tile)) + empty.blocks,
                  static_cast<unsigned>(call.slabs));
  direct_row_split<T, W, L, P, R, Split, U, Threads, MinBlocks, Operands>
      <<<grid, Threads, 0, call.stream>>>(call.a, call.x, empty, tile);
  check_launch("row-split SpMM");
}

template <class T, int W, int L, int P, int Threads, int MinBlocks, class Operands>
void launch_even_row_split(const SpmmCall<T, Operands>& call) {
  const EmptyRows empty = with_blocks(call, Threads / L);
  const dim3 grid(static_cast<unsigned>(blocks_of(call.a.count, Threads / L)) + empty.blocks,
                  static_cast<unsigned>(call.slabs));
  even_row_split<T, W, L, P, Threads, MinBlocks, Operands>
      <<<grid, Threads, 0, call.stream>>>(call.a, call.x, empty);
  check_launch("row-split SpMM");
}

template <class T, int W, int L, int P, int R, int U, int Threads, int MinBlocks, class Operands>
void launch_warp_row_split(const SpmmCall<T, Operands>& call) {
  const EmptyRows empty = with_blocks(call, Threads / L);
  const dim3 grid(static_cast<unsigned>(blocks_of(call.a.count, Threads / 32)) + empty.blocks,
                  static_cast<unsigned>(call.slabs));
  warp_row_split<T, W, L, P, R, U, Threads, MinBlocks, Operands>
      <<<grid, Threads, 0, call.stream>>>(call.a, call.x, empty);
  check_launch("row-split SpMM");
}

template <class T, int W, int Q, int Threads, int MinBlocks, class Operands>
void launch_tensor_row_split(const SpmmCall<T, Operands>& call) {
  const EmptyRows empty = with_blocks(call, Threads / (8 * Q));
  const dim3 grid(static_cast<unsigned>(blocks_of(call.a.count, Threads / 32)) + empty.blocks,
                  static_cast<unsigned>(call.slabs));
  tensor_row_split<T, W, Q, Threads, MinBlocks, Operands>
      <<<grid, Threads, 0, call.stream>>>(call.a, call.x, empty);
  check_launch("row-split SpMM");
}

template <class T, int W, int L, int P, int U, int Threads, int MinBlocks, class Operands>
void launch_shuffle_row_split(const SpmmCall<T, Operands>& call) {
  const EmptyRows empty = with_blocks(call, Threads / L);
  const dim3 grid(static_cast<unsigned>(blocks_of(call.a.count, Threads / 32)) + empty.blocks,
                  static_cast<unsigned>(call.slabs));
  shuffle_row_split<T, W, L, P, U, Threads, MinBlocks, Operands>
      <<<grid, Threads, 0, call.stream>>>(call.a, call.x, empty);
  check_launch("row-split SpMM");
}

/// Sees to it that the carries of `tiles` tiles fit; allocates at the first product of a shape only.
template <class T, class Operands>
void reserve_carries(const SpmmCall<T, Operands>& call, MergeTiles& merge, std::size_t record_bytes) {
  const std::size_t records = static_cast<std::size_t>(merge.tiles) * static_cast<std::size_t>(call.slabs);
  CudaSpmmPlan& plan = call.plan;
  if (plan.carries.size() < 2 * records * record_bytes)
    plan.carries = Buffer<char>(call.device, 2 * records * record_bytes);
  if (plan.arrivals.size() < records) {
    plan.arrivals = Buffer<unsigned>(call.device, records);
    check(cudaMemsetAsync(plan.arrivals.data(), 0, records * sizeof(unsigned), call.stream), "merge SpMM");
  }
  merge.carries = plan.carries.data();
  merge.arrivals = plan.arrivals.data();
  merge.path = {plan.path_ends.data(), plan.path_bundles.data(), plan.path_back.data()};
}

template <class T, int W, int L, int P, int U, int Threads, int MinBlocks, class Operands>
void launch_merge_by_lanes(const SpmmCall<T, Operands>& call, int longest_slice) {
  constexpr int slices = Threads / L;
  using Sums = SliceSums<T, W, L, P, 1, slices, L>;
  const double total = static_cast<double>(call.a.columns_total);
  MergeTiles merge;
  // Slices for all multiprocessors to have as many blocks as they hold, and no more where that will do.
  const double share = total / (static_cast<double>(slices) * MinBlocks * call.multiprocessors);
  merge.slice = std::clamp(4 * static_cast<int>(std::min(share / 4.0 + 1.0, 1024.0)), 8, longest_slice);
  merge.tile = slices * merge.slice - 32;  // mostly rows reach beyond it
  const int most = merge.tile + static_cast<int>(longest_whole_bundle);
  merge.places = slices * (slice_length(most, slices, merge.slice) + 1);
  merge.tiles = static_cast<unsigned>((call.a.columns_total + merge.tile - 1) / merge.tile);
  reserve_carries(call, merge, sizeof(typename Sums::PackType) * Sums::record);
  if (call.only_reserves) return;
  const std::size_t bytes =
      (sizeof(Sums) + 15) / 16 * 16 + static_cast<std::size_t>(merge.places) * (sizeof(T) + sizeof(LocalIndex));
  const auto kernel = merge_by_lanes<T, W, L, P, U, Threads, MinBlocks, Operands>;
  if (bytes > 48 * 1024) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
          "shared memory of the merge SpMM");
  }
  const EmptyRows empty = with_blocks(call, Threads / L);
  kernel<<<dim3(merge.tiles + empty.blocks, static_cast<unsigned>(call.slabs)), Threads, bytes, call.stream>>>(
      call.a, call.x, empty, merge);
  check_launch("merge SpMM");
}

/// Blocks of a kernel that a multiprocessor holds, at least one; sees to it that it may have that much shared
/// memory.
template <class Kernel>
int resident_blocks(Kernel kernel, int threads, std::size_t bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "shared memory of the merge SpMM");
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, bytes), "merge SpMM");
  return std::max(blocks, 1);
}

/// Launches a kernel that gives slices to warps, `slices` of them a block; `record_bytes` is what a slice leaves
/// behind.
template <class T, class Operands, class Kernel>
void launch_merge_of_warps(const SpmmCall<T, Operands>& call, Kernel kernel, int slices, int resident,
                           std::size_t bytes, std::size_t record_bytes, int rows_cleared_at_once) {
  MergeTiles merge;
  // As many slices as all multiprocessors work on at once, unless that makes long ones.
  const Offset share = call.a.columns_total / (static_cast<Offset>(slices) * resident * call.multiprocessors);
  merge.slice = static_cast<int>(std::clamp<Offset>((share + 31) / 32 * 32, 64, 2048));
  merge.tile = slices * merge.slice;
  merge.tiles = static_cast<unsigned>((call.a.columns_total + merge.tile - 1) / merge.tile);
  reserve_carries(call, merge, record_bytes);
  if (call.only_reserves) return;
  const EmptyRows empty = with_blocks(call, rows_cleared_at_once);
  kernel<<<dim3(merge.tiles + empty.blocks, static_cast<unsigned>(call.slabs)), 32 * slices, bytes, call.stream>>>(
      call.a, call.x, empty, merge);
  check_launch("merge SpMM");
}

template <class T, int W, int L, int P, int R, int U, int Threads, int MinBlocks, class Operands>
void launch_merge_by_warps(const SpmmCall<T, Operands>& call) {
  constexpr int slices = Threads / 32;
  using Sums = SliceSums<T, W, L, P, R, slices, 32>;
  const auto kernel = merge_by_warps<T, W, L, P, R, U, Threads, MinBlocks, Operands>;
  constexpr std::size_t bytes = (sizeof(Sums) + 15) / 16 * 16 + slices * sizeof(WarpStage<T, R, L>);
  static const int resident = resident_blocks(kernel, Threads, bytes);
  launch_merge_of_warps(call, kernel, slices, resident, bytes, sizeof(typename Sums::PackType) * Sums::record,
                        Threads / L);
}

template <class T, int W, int Q, int Threads, int MinBlocks, class Operands>
void launch_tensor_merge(const SpmmCall<T, Operands>& call) {
  constexpr int slices = Threads / 32;
  using Sums = typename TensorLeftover<T, W, Q, slices>::Sums;
  const auto kernel = tensor_merge<T, W, Q, Threads, MinBlocks, Operands>;
  constexpr std::size_t bytes = sizeof(Sums);
  static const int resident = resident_blocks(kernel, Threads, bytes);
  launch_merge_of_warps(call, kernel, slices, resident, bytes, sizeof(typename Sums::PackType) * Sums::record,
                        Threads / (8 * Q));
}

}  // namespace block_eigs::cuda
