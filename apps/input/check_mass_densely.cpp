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

}  // namespace

void check_small_mass(const Communicator& comm, const CsrRows& rows, const std::string& description) {
  if (rows.global_rows > most_rows_of_small_mass) return;
  SmallMatrix factor = scaled_matrix(comm, rows);
  const int n = factor.cols();
  // Conditions of 1e10 are let pass.
  const double noise = std::max(10.0 * n * std::numeric_limits<double>::epsilon(), 1e-12);
  comm.collectively([&] {
    if (!comm.is_root() || n == 0) return;
    double least = 0.0;
    if (lapack::cholesky(factor)) {
      least = 1.0;
      for (int j = 0; j < n; ++j) least = std::min(least, factor(j, j) * factor(j, j));
    }
    if (least > noise) return;
    throw InputError(
        fmt::format("mass: {} is not positive definite: it is singular within rounding, or indefinite "
                    "(its Cholesky factorisation ends with a pivot of {:.1g}, diagonal entries being 1)",
                    description, least));
  });
}

}  // namespace block_eigs
