#pragma once

#include <cstdint>
#include <vector>

#include "spmm/matrix/csr_rows.hpp"
#include "spmm/types.hpp"

namespace block_eigs::factors {

/// Entries of a symmetric matrix on and above its diagonal, as MUMPS takes them: those of the calling rank's rows,
/// numbered from 1.
struct Triangle {
  std::vector<int> rows;
  std::vector<int> columns;
  std::vector<double> values;

  /// Of one entry.
  static constexpr double entry_bytes = 2.0 * sizeof(int) + sizeof(double);
};

/// The triangle of A - sigma B (null: the identity), with an entry wherever A or B has one and on the diagonal:
/// the same places for all sigma. Rows are sorted. Not collective; throws std::bad_alloc.
Triangle shifted_triangle(const CsrRows& a, const CsrRows* b, double sigma);

/// Entries that it has. Not collective.
std::int64_t triangle_size(const CsrRows& a, const CsrRows* b);

}  // namespace block_eigs::factors
