#pragma once

#include <cstddef>
#include <vector>

#include "spmm/aligned_allocator.hpp"
#include "spmm/small_matrix.hpp"

// Symmetric matrices of some tens of rows, whose eigenvalues a solver waits for in every iteration: loops that
// compilers turn into vector instructions, without calls.
namespace block_eigs {

/// Columns that begin at cache lines and end in zeros, so that all of them are whole numbers of packs.
struct PaddedMatrix {
  static constexpr int pack = 8;

  PaddedMatrix() = default;
  PaddedMatrix(int rows, int columns)
      : stride((rows + pack - 1) / pack * pack),
        values(static_cast<std::size_t>(stride) * static_cast<std::size_t>(columns), 0.0) {}

  double* column(int j) { return values.data() + static_cast<std::ptrdiff_t>(j) * stride; }
  const double* column(int j) const { return values.data() + static_cast<std::ptrdiff_t>(j) * stride; }

  int stride = 0;
  AlignedVector<double> values;
};

/// Symmetric and tridiagonal.
struct Tridiagonal {
  AlignedVector<double> diagonal;
  AlignedVector<double> beside;  ///< of rows i and i + 1; the last entry is 0

  int rows() const { return static_cast<int>(diagonal.size()); }
};

/// Q^T A Q by Householder reflections (Golub and Van Loan, Matrix Computations, 4th ed., section 8.3.1), for A
/// symmetric, whose lower triangle is read.
Tridiagonal tridiagonalise(const SmallMatrix& a, PaddedMatrix& q);

/// How many eigenvalues of rows [first, end) lie below `limit`.
int eigenvalues_below(const Tridiagonal& t, int first, int end, double limit);

/// The `count` smallest eigenvalues, ascending, to some rounding errors of the norm of T: bisection with Sturm
/// sequences, all of them at a time (Barth, Martin and Wilkinson, Numer. Math. 9, 1967).
std::vector<double> smallest_eigenvalues(const Tridiagonal& t, int count);

/// The largest sum of absolute values of a row, which bounds all eigenvalues.
double norm_inf(const Tridiagonal& t);

}  // namespace block_eigs
