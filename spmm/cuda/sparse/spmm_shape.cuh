#pragma once

#include <type_traits>

#include "spmm/cuda/sparse/spmm_launch.cuh"

namespace block_eigs::cuda {

/// How the packs of a row of B are dealt: to L lanes, P for each.
template <int L, int P>
struct LaneShape {
  static constexpr int lanes = L;
  static constexpr int packs = P;
};

/// Packs of a row that one pass over A can take.
inline constexpr int packs_limit = 32;

/// Calls f with the LaneShape for `packs` packs of W elements, bundles of one. From 9 packs on, fewer lanes with
/// more packs each: A is then loaded for more multiplications at once. Packs of one element serve blocks that are
/// not aligned to 16 bytes; a few shapes have to do for these, among them that of a single vector.
template <int W, class F>
void with_lane_shape(int packs, F f) {
  if (packs <= 1) return f(LaneShape<1, 1>{});
  if constexpr (W > 1) {
    if (packs <= 2) return f(LaneShape<2, 1>{});
  }
  if (packs <= 4) return f(LaneShape<4, 1>{});
  if (packs <= 8) return f(LaneShape<8, 1>{});
  if (packs <= 16) return f(LaneShape<8, 2>{});
  if constexpr (W > 1) {
    if (packs <= 24) return f(LaneShape<8, 3>{});
  }
  return f(LaneShape<8, 4>{});
}

/// As with_lane_shape, for kernels whose groups need not be a power of two: hardly a lane without work.
template <int W, class F>
void with_free_lane_shape(int packs, F f) {
  if constexpr (W > 1) {
    if (packs == 3) return f(LaneShape<3, 1>{});
    if (packs == 5) return f(LaneShape<5, 1>{});
    if (packs == 6) return f(LaneShape<6, 1>{});
    if (packs == 9 || packs == 10) return f(LaneShape<10, 1>{});
    if (packs == 11 || packs == 12) return f(LaneShape<6, 2>{});
  }
  with_lane_shape<W>(packs, f);
}

/// As with_lane_shape, for bundles of several rows, whose sums need more registers.
template <int W, class F>
void with_bundle_shape(int packs, F f) {
  if (packs <= 1) return f(LaneShape<1, 1>{});
  if constexpr (W > 1) {
    if (packs <= 2) return f(LaneShape<2, 1>{});
  }
  if (packs <= 4) return f(LaneShape<4, 1>{});
  if constexpr (W > 1) {
    if (packs <= 8) return f(LaneShape<8, 1>{});
  }
  if (packs <= 16) return f(LaneShape<16, 1>{});
  return f(LaneShape<16, 2>{});
}

/// For thick bundles: calls f with Q for up to 8 Q packs, of which every lane has Q.
template <class F>
void with_tensor_shape(int packs, F f) {
  if (packs <= 8) return f(std::integral_constant<int, 1>{});
  if (packs <= 16) return f(std::integral_constant<int, 2>{});
  f(std::integral_constant<int, 4>{});
}

/// Rows of B on their way at once in one lane.
template <class Shape>
inline constexpr int rows_in_flight = Shape::packs == 1   ? 4
                                      : Shape::packs == 2 ? 2
                                                          : 1;

}  // namespace block_eigs::cuda
