#pragma once

#include "spmm/cuda/sparse/spmm_algorithms.hpp"
#include "spmm/cuda/sparse/spmm_bundles.hpp"
#include "spmm/cuda/sparse/spmm_rule.hpp"
#include "spmm/cuda/sparse/spmm_shape.cuh"

// Which row-split kernel, by the lengths of the rows and the columns of B.
namespace block_eigs::cuda {

/// Up to so many lanes at work a multiprocessor, waiting for memory decides, not bandwidth.
constexpr double few_lanes = 2048.0;

/// The number of lanes a row grows with its length. Longer rows go to warps, as many as a multiprocessor takes,
/// which stage A in shared memory, or pass it on by shuffles where B has a column or two.
template <class T, int W, int L, int P, int U, class Operands>
void multiply_few_rows(const SpmmCall<T, Operands>& call) {
  const double mean = call.plan.statistics.mean;
  constexpr double long_for_few_lanes = 64.0;
  if constexpr (L >= 4) {
    if (mean >= least_mean_of_warps) return launch_warp_row_split<T, W, L, P, 1, U, 128, 8>(call);
    launch_direct_row_split<T, W, L, P, 1, 4, U, 128, (P == 4 ? 6 : 8)>(call);
  } else {
    if (L == 2 && mean < least_mean_of_warps) return launch_direct_row_split<T, W, L, P, 1, 4, U, 128, 8>(call);
    if (mean < long_for_few_lanes) return launch_direct_row_split<T, W, L, P, 1, 8, U, 128, 8>(call);
    launch_shuffle_row_split<T, W, L, P, 4, 128, 8>(call);
  }
}

/// False where rows are too long for tiles in shared memory.
template <class T, int W, class Operands>
bool multiply_short_rows(const SpmmCall<T, Operands>& call) {
  bool done = false;
  with_free_lane_shape<W>(call.x.packs_per_slab, [&](auto shape) {
    using Shape = decltype(shape);
    constexpr int L = Shape::lanes, P = Shape::packs, U = rows_in_flight<Shape>;
    constexpr double work = P == 1 ? 12.0 : 6.0;
    if constexpr (P == 1 && L > 2) {
      // Waiting for memory decides: more threads, with fewer registers each.
      if (call.plan.statistics.mean < 12.0) {
        done = launch_staged_row_split<T, W, L, P, 1, U, 256, 6>(call, work, 4);
        return;
      }
    }
    done = launch_staged_row_split<T, W, L, P, 1, U, 256, (P == 2 ? 5 : 4)>(call, work);
    if constexpr (L <= 2) {
      if (!done) done = launch_staged_row_split<T, W, L, P, 1, U, 128, 8>(call, work);
    }
  });
  return done;
}

/// Between 5,000 nonzeros a row, which is 1.5 times as fast that way, and 9,090, which is a sixth slower.
constexpr Offset longest_even_row = 6000;

/// Whether rows are of about the same length and enough for all of a device, a row a group of lanes, and not so
/// long that they lose sight of each other on the way.
template <class T, class Operands>
bool moves_on_evenly(const SpmmCall<T, Operands>& call) {
  const RowStatistics& rows = call.plan.statistics;
  const auto lies_well = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data) % 16 == 0; };
  return rows.longest <= longest_even_row && static_cast<double>(rows.longest) <= 1.5 * rows.mean &&
         call.x.packs_per_slab >= 4 &&
         static_cast<double>(call.a.count) * call.x.packs_per_slab >= 2.0 * few_lanes * call.multiprocessors &&
         lies_well(call.a.columns) && lies_well(call.a.values);
}

template <class T, int W, class Operands>
void multiply_even_rows(const SpmmCall<T, Operands>& call) {
  with_bundle_shape<W>(call.x.packs_per_slab, [&](auto shape) {
    using Shape = decltype(shape);
    constexpr int L = Shape::lanes, P = Shape::packs;
    if constexpr (L >= 4) launch_even_row_split<T, W, L, P, 128, (P == 1 ? 12 : 8)>(call);
  });
}

template <class T, int W, class Operands>
void multiply_rows(const SpmmCall<T, Operands>& call) {
  with_lane_shape<W>(call.x.packs_per_slab, [&](auto shape) {
    using Shape = decltype(shape);
    constexpr int L = Shape::lanes, P = Shape::packs, U = rows_in_flight<Shape>;
    if (static_cast<double>(call.a.count) * L < few_lanes * call.multiprocessors) {
      return multiply_few_rows<T, W, L, P, U>(call);
    }
    const bool short_rows = call.plan.statistics.mean < 128.0;
    if (short_rows && multiply_short_rows<T, W>(call)) return;
    if constexpr (L <= 2) {
      if (short_rows) return launch_direct_row_split<T, W, L, P, 1, 8, U, 128, 8>(call);
    }
    if (L >= 4 && moves_on_evenly(call)) return multiply_even_rows<T, W>(call);
    launch_warp_row_split<T, W, L, P, 1, U, 256, 3>(call);
  });
}

template <class T, int W, class Operands>
void multiply_row_bundles(const SpmmCall<T, Operands>& call) {
  with_bundle_shape<W>(call.x.packs_per_slab, [&](auto shape) {
    using Shape = decltype(shape);
    constexpr int L = Shape::lanes, P = Shape::packs, R = bundle_rows_limit;
    const double columns = static_cast<double>(call.plan.statistics.columns_total) / call.a.count;
    if (columns < 32.0) {
      if constexpr (L <= 4) return launch_direct_row_split<T, W, L, P, R, 8 / L, 2 / P, 256, 1>(call);
      if (launch_staged_row_split<T, W, L, P, R, 2 / P, 128, 6>(call, 24.0)) return;
    } else if (columns < 128.0) {
      if (L > 1 && launch_staged_row_split<T, W, L, P, R, P, 64, (P == 1 ? 12 : 8)>(call, 12.0)) return;
      if constexpr (L <= 4) return launch_direct_row_split<T, W, L, P, R, 8 / L, 2 / P, 256, 1>(call);
    }
    launch_warp_row_split<T, W, L, P, R, 2 / P, 256, (L <= 8 ? 3 : 2)>(call);
  });
}

template <class T, int W, class Operands>
void multiply_thick_bundles(const SpmmCall<T, Operands>& call) {
  with_tensor_shape(call.x.packs_per_slab, [&](auto q) {
    constexpr int Q = decltype(q)::value;
    launch_tensor_row_split<T, W, Q, 128, (Q * W > 4 ? 3 : 4)>(call);
  });
}

template <class T, class Operands>
void multiply_row_split(const SpmmCall<T, Operands>& call, bool wide) {
  constexpr int W = 16 / static_cast<int>(sizeof(T));
  if (call.plan.thick) return wide ? multiply_thick_bundles<T, W>(call) : multiply_thick_bundles<T, 1>(call);
  if (call.plan.bundled) return wide ? multiply_row_bundles<T, W>(call) : multiply_row_bundles<T, 1>(call);
  return wide ? multiply_rows<T, W>(call) : multiply_rows<T, 1>(call);
}

}  // namespace block_eigs::cuda
