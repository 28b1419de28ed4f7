#pragma once

#include <cstdint>
#include <cstring>

#include "spmm/host/dense/vector.hpp"
#include "spmm/host/sparse/streaming_store.hpp"

// The change of layout between column-major blocks and row-major panels, 4 x 4 numbers at a time.
// Column-major blocks whose height is a power of two put all columns into the same few places of a cache: four
// columns are gone through at a time, and each line of theirs is used up at once.
namespace block_eigs::host {

using Four = Vector<double>::Lanes;
/// The same in memory of any alignment.
using FourInMemory = Vector<double>::Unaligned;

inline void transpose(Four (&x)[4]) {
  const Four low01 = __builtin_shufflevector(x[0], x[1], 0, 4, 2, 6);
  const Four high01 = __builtin_shufflevector(x[0], x[1], 1, 5, 3, 7);
  const Four low23 = __builtin_shufflevector(x[2], x[3], 0, 4, 2, 6);
  const Four high23 = __builtin_shufflevector(x[2], x[3], 1, 5, 3, 7);
  x[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
  x[1] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
  x[2] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
  x[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

/// out[i * width + j] = columns[i + j * leading] for 4 columns and rows first .. last - 1 as far as they make up
/// whole fours; returns the first row that is left.
template <int width>
std::int64_t four_to_rows(const double* columns, std::int64_t leading, std::int64_t rows, double* out) {
  std::int64_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    Four x[4];
    for (int j = 0; j < 4; ++j) x[j] = *reinterpret_cast<const FourInMemory*>(columns + i + j * leading);
    transpose(x);
    for (int r = 0; r < 4; ++r) *reinterpret_cast<FourInMemory*>(out + (i + r) * width) = x[r];
  }
  return i;
}

/// run[j][i] = in[i * width + j] for 4 columns, i < rows rounded up to fours.
template <int width, std::size_t height>
void four_runs(const double* in, std::int64_t rows, double (&run)[4][height]) {
  for (std::int64_t i = 0; i < rows; i += 4) {
    Four x[4];
    for (int r = 0; r < 4; ++r) x[r] = *reinterpret_cast<const FourInMemory*>(in + (i + r) * width);
    transpose(x);
    for (int j = 0; j < 4; ++j) *reinterpret_cast<FourInMemory*>(run[j] + i) = x[j];
  }
}

/// out[i * width + j] = columns[i + j * leading], i < rows, j < count; columns from `count` on become zero.
template <int width>
void to_rows(const double* columns, std::int64_t leading, int count, std::int64_t rows, double* out) {
  for (int j = 0; j < width; j += 4) {
    const double* const four = columns + j * leading;
    std::int64_t i = 0;
    if (j + 4 <= count) {
      // What comes next: the processor's own prefetching does not keep up with so many short streams.
      const double* const next = j + 4 < count ? four + 4 * leading : columns + rows;
      for (int k = 0; k < 4; ++k) {
        for (std::int64_t ahead = 0; ahead < rows; ahead += line_doubles)
          __builtin_prefetch(next + ahead + k * leading);
      }
      i = four_to_rows<width>(four, leading, rows, out + j);
    }
    for (; i < rows; ++i) {
      for (int k = 0; k < 4; ++k) out[i * width + j + k] = j + k < count ? four[i + k * leading] : 0.0;
    }
  }
}

/// Rows from `column` on up to the next line of memory.
inline std::int64_t rows_to_line(const double* column) {
  const auto place = reinterpret_cast<std::uintptr_t>(column) / sizeof(double);
  return static_cast<std::int64_t>((line_doubles - place % line_doubles) % line_doubles);
}

/// columns[i + j * leading] = in[i * width + j], i < rows <= height, j < count. `in` is aligned to 32 bytes.
template <int width, std::size_t height>
void to_columns(const double* in, std::int64_t rows, int count, double* columns, std::int64_t leading) {
  alignas(64) double run[4][height];
  const bool at_lines = rows_to_line(columns) == 0 && leading % line_doubles == 0;
  for (int j = 0; j < count; j += 4) {
    four_runs<width>(in + j, rows, run);
    for (int k = 0; k < 4 && j + k < count; ++k) {
      double* const column = columns + (j + k) * leading;
      if (at_lines) {
        stream_run(run[k], rows, column);
      } else {
        std::memcpy(column, run[k], static_cast<std::size_t>(rows) * sizeof(double));
      }
    }
  }
}

}  // namespace block_eigs::host
