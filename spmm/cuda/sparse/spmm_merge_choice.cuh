#pragma once

#include "spmm/cuda/sparse/spmm_algorithms.hpp"
#include "spmm/cuda/sparse/spmm_bundles.hpp"
#include "spmm/cuda/sparse/spmm_shape.cuh"

// Which merge kernel, by the lengths of the rows and the columns of B.
namespace block_eigs::cuda {

template <class T, int W, class Operands>
void multiply_slices(const SpmmCall<T, Operands>& call) {
  with_lane_shape<W>(call.x.packs_per_slab, [&](auto shape) {
    using Shape = decltype(shape);
    constexpr int L = Shape::lanes, P = Shape::packs, U = rows_in_flight<Shape>;
    constexpr double warp_pays = 512.0;
    if (call.plan.statistics.mean >= warp_pays) {
      launch_merge_by_warps<T, W, L, P, 1, U, 256, 2>(call);
    } else {
      constexpr int most = L <= 2 ? 16 : L == 4 || P > 2 ? 32 : 64;
      // Where a lane has several packs, twice as many rows of B on their way and fewer threads.
      launch_merge_by_lanes<T, W, L, P, (P > 1 ? 2 * U : U), 128, (P > 2 ? 5 : P == 2 ? 7 : 8)>(call, most);
    }
  });
}

template <class T, int W, class Operands>
void multiply_merged_bundles(const SpmmCall<T, Operands>& call) {
  if (call.plan.thick) {
    return with_tensor_shape(call.x.packs_per_slab, [&](auto q) {
      constexpr int Q = decltype(q)::value;
      launch_tensor_merge<T, W, Q, 512, 1>(call);
    });
  }
  with_bundle_shape<W>(call.x.packs_per_slab, [&](auto shape) {
    using Shape = decltype(shape);
    constexpr int L = Shape::lanes, P = Shape::packs;
    constexpr int blocks = L <= 8 || (P == 1 && sizeof(T) == 4) ? 3 : 2;
    launch_merge_by_warps<T, W, L, P, bundle_rows_limit, 2 / P, 256, blocks>(call);
  });
}

template <class T, class Operands>
void multiply_merge(const SpmmCall<T, Operands>& call, bool wide) {
  constexpr int W = 16 / static_cast<int>(sizeof(T));
  if (call.plan.bundled) return wide ? multiply_merged_bundles<T, W>(call) : multiply_merged_bundles<T, 1>(call);
  return wide ? multiply_slices<T, W>(call) : multiply_slices<T, 1>(call);
}

}  // namespace block_eigs::cuda
