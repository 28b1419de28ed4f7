#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "apps/input/check_mass.hpp"
#include "solver/small/lapack.hpp"
#include "spmm/error.hpp"
#include "spmm/small_matrix.hpp"

namespace block_eigs {

namespace {

/// D^-1/2 B D^-1/2 of all ranks' rows.
SmallMatrix scaled_matrix(const Communicator& comm, const CsrRows& rows) {
  const int n = static_cast<int>(rows.global_rows);
  SmallMatrix matrix(n, n);
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    const auto local = static_cast<std::size_t>(i);
    for (Offset k = rows.row_offsets[local]; k < rows.row_offsets[local + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      matrix(static_cast<int>(rows.row_begin + i), static_cast<int>(rows.columns[at])) = rows.values[at];
    }
  }
  comm.sum(matrix.values());
  SmallMatrix scales(n, 1);
  for (int i = 0; i < n; ++i) scales(i, 0) = 1.0 / std::sqrt(matrix(i, i));
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) matrix(i, j) *= scales(i, 0) * scales(j, 0);
  }
  return matrix;
}

/// Smallest eigenvalue of factor factor^T by inverse iteration, or a little more. A pivot may be many times larger
/// than it, so that a singular matrix leaves one that looks like more than rounding errors.
double smallest_eigenvalue(const SmallMatrix& factor) {
  constexpr int steps = 4;
  const int n = factor.cols();
  SmallMatrix x(n, 1);
  for (int i = 0; i < n; ++i) x(i, 0) = 1.0 + 0.5 * std::sin(static_cast<double>(i));
  double norm = 1.0;
  for (int step = 0; step < steps; ++step) {
    double squares = 0.0;
    for (const double value : x.values()) squares += value * value;
    for (double& value : x.values()) value /= std::sqrt(squares);
    lapack::solve_lower(factor, x);
    lapack::solve_lower_transposed(factor, x);
    squares = 0.0;
    for (const double value : x.values()) squares += value * value;
    norm = std::sqrt(squares);
    if (!std::isfinite(norm)) return 0.0;
  }
  return 1.0 / norm;
}

}  // namespace

void check_small_mass(const Communicator& comm, const CsrRows& rows, const std::string& description) {
  if (rows.global_rows > most_rows_of_small_mass) return;
  SmallMatrix factor = scaled_matrix(comm, rows);
  const int n = factor.cols();
  // Conditions of 1e10 are let pass.
  const double noise = std::max(n * std::numeric_limits<double>::epsilon(), 1e-13);
  comm.collectively([&] {
    if (!comm.is_root() || n == 0) return;
    const bool definite = lapack::cholesky(factor);
    const double least = definite ? smallest_eigenvalue(factor) : 0.0;
    if (least > noise) return;
    const std::string found =
        definite ? fmt::format("its smallest eigenvalue is about {:.1g}", least) : "it has no Cholesky factor";
    throw InputError(
        fmt::format("mass: {} is not positive definite: it is singular within rounding, or indefinite ({}, "
                    "scaled so that its diagonal entries are 1)",
                    description, found));
  });
}

}  // namespace block_eigs
