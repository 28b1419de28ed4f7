#pragma once

#include <cstddef>
#include <vector>

#include "spmm/device/kernels.hpp"
#include "spmm/host/dense/gram.hpp"
#include "spmm/host/runtime/scratch.hpp"
#include "spmm/small_matrix.hpp"
#include "spmm/types.hpp"

namespace block_eigs::host {

/// ProductStep::products, from rows of Y while they are at hand: begin, then before() and after() around what
/// makes them, add() for what is added to a row later, then finish.
template <class T>
class ProductSums {
 public:
  /// Most rows between before() and after().
  static constexpr LocalIndex most_rows = 64;

  /// Of Y = `y` as `a` and `step` make it; the arrays outlive the calls that follow.
  void begin(const CsrView<T>& a, BlockView<T> y, const ProductStep<T>& step);
  /// Rows begin .. end - 1 of A are about to be multiplied, or have been, by thread `part`.
  void before(int part, LocalIndex begin, LocalIndex end);
  void after(int part, LocalIndex begin, LocalIndex end);
  /// `factor` times `change`, as many numbers as Y has columns, has been added to row `row` of Y.
  void add(int part, LocalIndex row, T factor, const T* change);
  /// Adds what has come together.
  void finish(SmallMatrix& products);

 private:
  LocalIndex result_row(LocalIndex row) const { return row_map_ == nullptr ? row : row_map_[row]; }
  double* changes(int part) { return changes_.data() + static_cast<std::size_t>(part) * step_size(); }
  std::size_t step_size() const {
    return static_cast<std::size_t>(left_.cols) * static_cast<std::size_t>(y_.cols);
  }

  BlockView<T> y_;
  ConstBlockView<T> left_;
  const LocalIndex* row_map_ = nullptr;
  T gamma_ = 0;
  bool replaced_ = false;  ///< rows of Y that are new altogether, one after the other: sums of tiles
  Gram<T> gram_;
  SmallMatrix sums_;
  std::vector<double> changes_;    ///< left^T times what rows have changed by, a matrix a thread, upper half
  std::vector<Scratch> old_rows_;  ///< one a thread
};

}  // namespace block_eigs::host
