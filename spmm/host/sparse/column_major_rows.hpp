#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "spmm/host/sparse/column_major_layout.hpp"
#include "spmm/matrix/column_major_product.hpp"

// What one thread does in a column-major product: rows of A times a vector, or times a panel of B in row-major
// order.
namespace block_eigs::host {

/// Rows of A whose products stay in cache until they are turned.
inline constexpr std::int64_t tile_rows = 64;
/// Rows of B that are turned at once, while the next ones are fetched.
inline constexpr std::int64_t piece_rows = 64;

/// Rows of a panel, row-major, the row i of it at i & mask.
struct Window {
  double* data;
  std::int64_t mask;

  template <int width>
  double* row(std::int64_t i) const {
    return data + (i & mask) * width;
  }
};

/// Rows first .. last - 1 of a panel of B into the window; columns from `count` on become zero.
template <int width>
void turn_rows(ConstColumns b, int count, std::int64_t first, std::int64_t last, const Window& window) {
  for (std::int64_t begin = first; begin < last;) {
    // Up to where the window wraps, in pieces that stay in cache.
    const std::int64_t end = std::min({last, begin + piece_rows, (begin | window.mask) + 1});
    to_rows<width>(b.data + begin, b.leading, count, end - begin, window.row<width>(begin));
    begin = end;
  }
}

/// y = A x or y += A x in rows begin .. end - 1.
template <bool add, class Index>
void rows_times_vector(const BorrowedCsr<Index>& a, std::int64_t begin, std::int64_t end, const double* x,
                       double* y) {
  const Index* const offsets = a.row_offsets;
  const Index* column = a.columns + offsets[begin];
  const double* value = a.values + offsets[begin];
  for (std::int64_t i = begin; i < end; ++i) {
    double sum = add ? y[i] : 0.0;
    for (const double* const row_end = a.values + offsets[i + 1]; value != row_end; ++value, ++column) {
      sum += *value * x[*column];
    }
    y[i] = sum;
  }
}

/// One row of A times the row-major panel. `out` has room for `width` numbers.
template <int width, class Index>
void row_times_panel(const BorrowedCsr<Index>& a, Index row, const Window& panel, double* out) {
  double sum[width] = {};
  const Index end = a.row_offsets[row + 1];
  for (Index k = a.row_offsets[row]; k < end; ++k) {
    const double value = a.values[k];
    const double* in = panel.row<width>(a.columns[k]);
    for (int j = 0; j < width; ++j) sum[j] += value * in[j];
  }
  std::memcpy(out, sum, sizeof sum);
}

/// Rows begin .. end - 1 of A times the panel, turned tile by tile into the columns of C.
template <int width, class Index>
void multiply_rows(const BorrowedCsr<Index>& a, std::int64_t begin, std::int64_t end, const Window& panel,
                   Columns c, int count) {
  alignas(64) std::array<double, static_cast<std::size_t>(tile_rows) * width> tile;
  // The first tile ends where a line of C begins.
  std::int64_t rows = rows_to_line(c.data + begin);
  if (rows == 0) rows = tile_rows;
  for (; begin < end; begin += rows, rows = tile_rows) {
    rows = std::min(rows, end - begin);
    for (std::int64_t i = 0; i < rows; ++i) {
      row_times_panel<width>(a, static_cast<Index>(begin + i), panel, tile.data() + i * width);
    }
    to_columns<width, tile_rows>(tile.data(), rows, count, c.data + begin, c.leading);
  }
}

}  // namespace block_eigs::host
