#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <span>

#include "spmm/aligned_allocator.hpp"

namespace block_eigs {

/// Small dense matrix in host memory, column-major, always double: Gram matrices, coefficients.
class SmallMatrix {
 public:
  SmallMatrix() = default;
  SmallMatrix(int rows, int cols) { resize(rows, cols); }

  static SmallMatrix identity(int n) {
    SmallMatrix result(n, n);
    for (int i = 0; i < n; ++i) result(i, i) = 1.0;
    return result;
  }

  /// Sets the shape and all elements to zero. Keeps the allocation where it suffices.
  void resize(int rows, int cols) {
    rows_ = rows;
    cols_ = cols;
    values_.assign(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols), 0.0);
  }

  int rows() const { return rows_; }
  int cols() const { return cols_; }
  double* data() { return values_.data(); }
  const double* data() const { return values_.data(); }
  std::span<double> values() { return values_; }
  std::span<const double> values() const { return values_; }
  double* column(int j) { return data() + position(0, j); }
  const double* column(int j) const { return data() + position(0, j); }

  bool all_finite() const {
    return std::all_of(values_.begin(), values_.end(), [](double value) { return std::isfinite(value); });
  }

  double& operator()(int i, int j) { return values_[position(i, j)]; }
  double operator()(int i, int j) const { return values_[position(i, j)]; }

 private:
  std::size_t position(int i, int j) const {
    assert(i >= 0 && i <= rows_ && j >= 0 && j <= cols_);
    return static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(rows_);
  }

  int rows_ = 0;
  int cols_ = 0;
  AlignedVector<double> values_;
};

}  // namespace block_eigs
