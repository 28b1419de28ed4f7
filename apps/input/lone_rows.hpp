#pragma once

#include <limits>
#include <vector>

#include "spmm/matrix/csr_rows.hpp"

namespace block_eigs {

/// The calling rank's rows without a coupling to others in A and B: e_i is an eigenvector for each of them, with
/// the value a_ii / b_ii. And between what bounds the eigenvalues of A's other rows lie.
struct LoneRows {
  std::vector<LocalIndex> rows;  ///< ascending
  std::vector<double> values;    ///< a_ii / b_ii
  std::vector<double> lengths;   ///< of e_i in the norm of B: the root of b_ii
  /// Gershgorin's, up to the rounding errors of its sums; infinite where the rank has no other rows.
  double lower = std::numeric_limits<double>::infinity();
  double upper = -std::numeric_limits<double>::infinity();
};

/// Of these rows of A, B being the identity; without bounds. Not collective.
LoneRows find_lone_rows(const CsrRows& a);

/// The bounds. Not collective.
void bound_others(const CsrRows& a, LoneRows& lone);

/// The same with these rows of B, whose diagonal is positive. The bounds are A's. Not collective.
void take_mass(const CsrRows& b, LoneRows& lone);

}  // namespace block_eigs
