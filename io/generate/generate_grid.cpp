#include "io/generate/generate_grid.hpp"

#include <algorithm>

namespace block_eigs {

namespace {

struct LinePoint {
  int step = 0;            // in x
  GlobalIndex offset = 0;  // of the column from the row
  double value = 0.0;
  bool diagonal = false;
};

// The points of the stencil that stay on the grid for all x of the line (y, z).
void points_of_line(const GridOperator& grid, GlobalIndex y, GlobalIndex z, std::vector<LinePoint>& line) {
  line.clear();
  const auto& [nx, ny, nz] = grid.size;
  for (const StencilPoint& point : grid.points) {
    const auto& [dx, dy, dz] = point.step;
    if (y + dy < 0 || y + dy >= ny || z + dz < 0 || z + dz >= nz) continue;
    const bool diagonal = dx == 0 && dy == 0 && dz == 0;
    line.push_back({dx, dx + nx * (dy + ny * dz), point.value, diagonal});
  }
}

void append_line(const std::vector<LinePoint>& line, GlobalIndex nx, GlobalIndex first_row, GlobalIndex x,
                 GlobalIndex x_end, const double* potential_x, double potential_yz, CsrRows& out) {
  for (; x < x_end; ++x) {
    const GlobalIndex row = first_row + x;
    for (const LinePoint& point : line) {
      if (x + point.step < 0 || x + point.step >= nx) continue;
      double value = point.value;
      if (point.diagonal && potential_x != nullptr) value += potential_x[x] + potential_yz;
      out.columns.push_back(row + point.offset);
      out.values.push_back(value);
    }
    out.row_offsets.push_back(static_cast<Offset>(out.columns.size()));
  }
}

}  // namespace

void append_grid_rows(const GridOperator& grid, GlobalIndex begin, GlobalIndex end, CsrRows& out) {
  const auto& [nx, ny, nz] = grid.size;
  const auto rows = static_cast<std::size_t>(end - begin);
  out.row_offsets.reserve(out.row_offsets.size() + rows);
  out.columns.reserve(out.columns.size() + rows * grid.points.size());
  out.values.reserve(out.values.size() + rows * grid.points.size());
  const bool has_potential = !grid.potential[0].empty();
  std::vector<LinePoint> line;
  for (GlobalIndex row = begin; row < end;) {
    const GlobalIndex first_row = row - row % nx;
    const GlobalIndex y = row / nx % ny;
    const GlobalIndex z = row / nx / ny;
    const GlobalIndex x_end = std::min(nx, end - first_row);
    points_of_line(grid, y, z, line);
    const double potential_yz = has_potential ? grid.potential[1][static_cast<std::size_t>(y)] +
                                                    grid.potential[2][static_cast<std::size_t>(z)]
                                              : 0.0;
    append_line(line, nx, first_row, row - first_row, x_end, has_potential ? grid.potential[0].data() : nullptr,
                potential_yz, out);
    row = first_row + x_end;
  }
}

}  // namespace block_eigs
