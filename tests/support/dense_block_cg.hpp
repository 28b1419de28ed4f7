#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "solver/block_cg/block_cg_recurrence.hpp"
#include "solver/small/lapack.hpp"
#include "tests/support/random_problem.hpp"

// The recurrence of BCGrQ on dense matrices, where everything that it promises can be computed beside it.
namespace block_eigs::test {

inline SmallMatrix times(const SmallMatrix& a, const SmallMatrix& b) {
  return lapack::product(a, false, b, false);
}
inline SmallMatrix transposed_times(const SmallMatrix& a, const SmallMatrix& b) {
  return lapack::product(a, true, b, false);
}

inline SmallMatrix beside(const std::vector<const SmallMatrix*>& parts) {
  int cols = 0;
  for (const SmallMatrix* part : parts) cols += part->cols();
  SmallMatrix result(parts.front()->rows(), cols);
  cols = 0;
  for (const SmallMatrix* part : parts) {
    std::copy(part->values().begin(), part->values().end(), result.column(cols));
    cols += part->cols();
  }
  return result;
}

inline SmallMatrix columns_of(const SmallMatrix& matrix, int first, int count) {
  SmallMatrix result(matrix.rows(), count);
  std::copy_n(matrix.column(first), result.values().size(), result.data());
  return result;
}

inline double largest(const SmallMatrix& matrix) {
  double result = 0.0;
  for (const double value : matrix.values()) result = std::max(result, std::abs(value));
  return result;
}

/// a - b
inline SmallMatrix difference(SmallMatrix a, const SmallMatrix& b) {
  EXPECT_EQ(a.rows(), b.rows());
  EXPECT_EQ(a.cols(), b.cols());
  for (std::size_t k = 0; k < a.values().size(); ++k) a.values()[k] -= b.values()[k];
  return a;
}

/// A X = F in dense arithmetic, the recurrence in charge of all coefficients.
struct DenseSolve {
  SmallMatrix a;
  SmallMatrix inverse;  ///< M^-1; without columns the identity
  SmallMatrix f;
  BlockCgRecurrence recurrence{std::numeric_limits<double>::epsilon()};
  SmallMatrix x{}, q{}, z{}, s{}, as{};

  bool active() const {
    return std::any_of(recurrence.sides().begin(), recurrence.sides().end(),
                       [](const BlockCgRecurrence::Side& side) { return side.active; });
  }

  void precondition() { z = inverse.cols() > 0 ? times(inverse, q) : q; }

  SmallMatrix orthonormalise() {
    for (;;) {
      precondition();
      SmallMatrix products = transposed_times(q, q);
      if (inverse.cols() > 0) {
        const SmallMatrix inner = transposed_times(q, z);
        products = beside({&inner, &products});
      }
      const BlockCgRecurrence::Result result = recurrence.factorise(products);
      EXPECT_NE(result, BlockCgRecurrence::Result::not_finite);
      if (result != BlockCgRecurrence::Result::nearly_dependent) break;
      q = times(q, recurrence.rebasing());
    }
    recurrence.narrow();
    return recurrence.direction_update();
  }

  void begin(double tolerance) {
    std::vector<BlockCgRecurrence::Side> sides;
    for (int j = 0; j < f.cols(); ++j) {
      const double norm = column_norm(f, j);
      sides.push_back({tolerance * norm, 0.01 * std::numeric_limits<double>::epsilon() * norm, norm > 0.0});
    }
    recurrence.restart(sides);
    x.resize(f.rows(), f.cols());
    q = f;
    const SmallMatrix transform = orthonormalise();
    s = times(z, transform);
  }

  /// One iteration. False where S^T A S cannot be inverted.
  bool step() {
    as = times(a, s);
    const SmallMatrix update = recurrence.residual_update(transposed_times(s, as));
    if (update.cols() == 0) return false;
    q = times(beside({&q, &as}), update);
    const SmallMatrix coefficients = orthonormalise();
    const SmallMatrix moved = times(beside({&x, &s, &z}), coefficients);
    x = columns_of(moved, 0, x.cols());
    s = columns_of(moved, x.cols(), moved.cols() - x.cols());
    return true;
  }

  SmallMatrix residual() const { return difference(f, times(a, x)); }
};

}  // namespace block_eigs::test
