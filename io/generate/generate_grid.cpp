#include "io/generate/generate_grid.hpp"

#include <algorithm>
#include <cstddef>

#include "spmm/first_error.hpp"
#include "spmm/large_vectors.hpp"

namespace block_eigs {

namespace {

struct LinePoint {
  int step = 0;            // in x
  GlobalIndex offset = 0;  // of the column from the row
  double value = 0.0;
  bool diagonal = false;
};

// Rows side by side on one line (y, z) of the grid.
struct Segment {
  GlobalIndex y = 0;
  GlobalIndex z = 0;
  GlobalIndex x = 0;
  GlobalIndex x_end = 0;
  GlobalIndex row = 0;  // that of x
  Offset offset = 0;    // where its entries begin
};

constexpr GlobalIndex longest_segment = 4096;

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

Offset count_entries(const std::vector<LinePoint>& line, GlobalIndex nx, const Segment& segment) {
  Offset count = 0;
  for (const LinePoint& point : line) {
    const GlobalIndex first = std::max<GlobalIndex>(segment.x, -point.step);
    const GlobalIndex last = std::min<GlobalIndex>(segment.x_end, nx - point.step);
    count += std::max<GlobalIndex>(0, last - first);
  }
  return count;
}

// Those of rows begin .. end - 1, and the number of entries of all.
std::vector<Segment> segments_of(const GridOperator& grid, GlobalIndex begin, GlobalIndex end, Offset& entries) {
  const auto& [nx, ny, nz] = grid.size;
  std::vector<Segment> segments;
  std::vector<LinePoint> line;
  entries = 0;
  for (GlobalIndex row = begin; row < end;) {
    Segment segment{row / nx % ny, row / nx / ny, row % nx, 0, row, entries};
    segment.x_end = std::min({nx, segment.x + longest_segment, segment.x + (end - row)});
    points_of_line(grid, segment.y, segment.z, line);
    entries += count_entries(line, nx, segment);
    segments.push_back(segment);
    row += segment.x_end - segment.x;
  }
  return segments;
}

void fill(const GridOperator& grid, const std::vector<LinePoint>& line, const Segment& segment, CsrRows& out) {
  const GlobalIndex nx = grid.size[0];
  const bool has_potential = !grid.potential[0].empty();
  const double potential_yz = has_potential ? grid.potential[1][static_cast<std::size_t>(segment.y)] +
                                                  grid.potential[2][static_cast<std::size_t>(segment.z)]
                                            : 0.0;
  auto at = static_cast<std::size_t>(segment.offset);
  auto local = static_cast<std::size_t>(segment.row - out.row_begin);
  for (GlobalIndex x = segment.x; x < segment.x_end; ++x) {
    const GlobalIndex row = segment.row + (x - segment.x);
    for (const LinePoint& point : line) {
      if (x + point.step < 0 || x + point.step >= nx) continue;
      double value = point.value;
      if (point.diagonal && has_potential) value += grid.potential[0][static_cast<std::size_t>(x)] + potential_yz;
      out.columns[at] = row + point.offset;
      out.values[at++] = value;
    }
    out.row_offsets[++local] = static_cast<Offset>(at);
  }
}

}  // namespace

void set_grid_rows(const GridOperator& grid, GlobalIndex begin, GlobalIndex end, CsrRows& out) {
  Offset entries = 0;
  const std::vector<Segment> segments = segments_of(grid, begin, end, entries);
  out.row_begin = begin;
  out.row_offsets.clear();
  resize_large(out.row_offsets, static_cast<std::size_t>(end - begin) + 1);
  resize_large(out.columns, static_cast<std::size_t>(entries));
  resize_large(out.values, static_cast<std::size_t>(entries));
  FirstError failure;
#pragma omp parallel for schedule(static)
  for (std::size_t s = 0; s < segments.size(); ++s) {
    failure.run([&] {
      std::vector<LinePoint> line;
      points_of_line(grid, segments[s].y, segments[s].z, line);
      fill(grid, line, segments[s], out);
    });
  }
  failure.rethrow();
}

}  // namespace block_eigs
