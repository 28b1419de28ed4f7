#pragma once

#include <string>

#include "io/source/matrix_source.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// What differences between a_ij and a_ji, relative to their rows, count as rounding.
inline constexpr double symmetry_tolerance = 1e-10;

/// Throws InputError unless the matrix has as many rows as columns. Collective.
void check_square(const Communicator& comm, const MatrixSource& source);

/// Throws InputError that names row and column where a value is NaN or infinite. Collective.
void check_finite(const Communicator& comm, const CsrRows& rows, const std::string& description);
/// As check_finite, of the calling rank's rows alone. Not collective.
void require_finite(const CsrRows& rows, const std::string& description);

/// Throws InputError unless the square matrix is symmetric: the message names the worst pair a_ij, a_ji, or says
/// that only one triangle is stored and how to save the whole. `rows` are the calling rank's rows, sorted.
/// Collective.
///
/// Every row is probed, not entries by chance: with random x, one per column, row i of (A - A^T) x, its diagonal
/// left out, must vanish against the sum of the absolute values of its terms. One asymmetric pair shows in its two
/// rows unless it is below symmetry_tolerance beside the other entries of both.
void check_symmetric(const Communicator& comm, const Partition& partition, const CsrRows& rows,
                     const std::string& description);

/// max_i |((A - A^T) x)_i| / (sum_j |a_ij x_j| + |a_ji x_j|), j != i, for the probe above. Collective.
double asymmetry(const Communicator& comm, const Partition& partition, const CsrRows& rows);

}  // namespace block_eigs
