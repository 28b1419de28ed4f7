#pragma once

#include <array>
#include <vector>

#include "spmm/matrix/csr_rows.hpp"

namespace block_eigs {

/// One entry of a stencil: the neighbour at (x, y, z) + step.
struct StencilPoint {
  std::array<int, 3> step{};
  double value = 0.0;
};

/// A stencil on a grid of up to three dimensions (unused ones have one point), x fastest, zero values outside
/// the grid, plus a potential on the diagonal: potential[0][x] + potential[1][y] + potential[2][z].
struct GridOperator {
  std::array<GlobalIndex, 3> size{1, 1, 1};
  std::vector<StencilPoint> points;              ///< ascending in (z, y, x)
  std::array<std::vector<double>, 3> potential;  ///< size[d] entries, or all three empty
};

/// Sets rows begin .. end - 1 in `out`, which has none, by all threads.
void set_grid_rows(const GridOperator& grid, GlobalIndex begin, GlobalIndex end, CsrRows& out);

}  // namespace block_eigs
