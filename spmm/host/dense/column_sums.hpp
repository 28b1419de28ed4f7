#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "spmm/types.hpp"

namespace block_eigs::host {

/// Sums down the columns of tall blocks, in T over at most `rows_in_precision` rows, else in double; one set of
/// sums a thread. Columns are taken a few vectors at a time. Where their number is no multiple of the vector's
/// width, the last vector overlaps the one before: all vectors of a group are loaded before any is stored, so
/// results may replace their inputs.
template <class T>
class ColumnSums {
 public:
  static constexpr std::ptrdiff_t rows_in_precision = 256;

  /// Starts over with sums of zero. `factors` are those of `residual`, one a column or none.
  void start(LocalIndex cols, int threads, std::span<const double> factors = {});

  /// r = ax - bx diag(factors); adds the squares of r to the sums of `thread`. Rows of `ax` may be a thread's
  /// copy.
  void residual(int thread, ConstBlockView<T> ax, ConstBlockView<T> bx, BlockView<T> r);
  /// Adds x(i, j) y(i, j) to the sums of `thread`.
  void dot(int thread, ConstBlockView<T> x, ConstBlockView<T> y);

  /// One sum a column, threads added in their order.
  void finish(std::span<double> sums) const;

 private:
  /// Columns first .. of `vectors` vectors, the last of which starts at column first + last.
  struct Group {
    int first, vectors, last;
  };

  double* sums_of(int thread) { return sums_.data() + static_cast<std::size_t>(thread) * stride_; }

  LocalIndex cols_ = 0;
  std::size_t stride_ = 0;
  std::vector<Group> groups_;
  std::vector<T> factors_;
  std::vector<double> sums_;
};

}  // namespace block_eigs::host
