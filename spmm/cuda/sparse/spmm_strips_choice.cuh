#pragma once

#include "spmm/cuda/sparse/spmm_algorithms.hpp"
#include "spmm/cuda/sparse/spmm_launch.cuh"
#include "spmm/cuda/sparse/spmm_strips.cuh"

// Which kernel for strips, by the columns of B.
namespace block_eigs::cuda {

/// A strip for each group of lanes in a block; fewer where they would not fit into shared memory.
template <class T, int W, int L, int P, int Split, int U, int MinBlocks, class Operands>
void launch_strips(const SpmmCall<T, Operands>& call) {
  constexpr int threads = 128;
  const Strips& strips = *call.plan.strips;
  int tile = threads / (L * Split), capacity = 0;
  std::size_t bytes = 0;
  for (;; tile /= 2) {
    capacity = static_cast<int>((at_size(strips.most_columns, tile) + 3) / 4 * 4);
    bytes = static_cast<std::size_t>(capacity) * (sizeof(LocalIndex) + sizeof(Sources)) +
            static_cast<std::size_t>(call.columns_in_tile(tile * strip_height)) * sizeof(T);
    if (bytes <= staging_limit || tile == 1) break;
  }
  const auto kernel = row_split_by_strips<T, W, L, P, Split, U, threads, MinBlocks, Operands>;
  if (bytes > 48 * 1024) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
          "shared memory of the SpMM by strips");
  }
  const EmptyRows empty = with_blocks(call, threads / L);
  const dim3 grid(static_cast<unsigned>(blocks_of(strips.count, tile)) + empty.blocks,
                  static_cast<unsigned>(call.slabs));
  const StripsView<T> a{strips.count,          call.a.count,
                        call.a.column_offsets, strips.offsets.data(),
                        strips.columns.data(), reinterpret_cast<const Sources*>(strips.sources.data()),
                        call.a.targets,        call.a.values};
  kernel<<<grid, threads, bytes, call.stream>>>(a, call.x, empty, tile, capacity);
  check_launch("SpMM by strips");
}

template <class T, class Operands>
void multiply_strips(const SpmmCall<T, Operands>& call) {
  constexpr int W = 16 / static_cast<int>(sizeof(T));
  const int packs = call.x.packs_per_slab;
  if (packs <= 1) return launch_strips<T, W, 1, 1, 8, 4, 6>(call);
  if (packs <= 2) return launch_strips<T, W, 2, 1, 4, 4, 6>(call);
  if (packs <= 4) return launch_strips<T, W, 4, 1, 2, 4, 6>(call);
  if (packs <= 8) return launch_strips<T, W, 8, 1, 1, 4, 6>(call);
  if (packs <= 16) return launch_strips<T, W, 16, 1, 1, 4, 6>(call);
  launch_strips<T, W, 16, 2, 1, 2, 5>(call);
}

}  // namespace block_eigs::cuda
