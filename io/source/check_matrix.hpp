#pragma once

#include <string>

#include "io/source/matrix_source.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// What differences between a_ij and a_ji, relative to their rows, count as rounding; of a matrix that is worked
/// with in float, which has no more digits, by the second.
inline constexpr double symmetry_tolerance = 1e-10;
inline constexpr double symmetry_tolerance_in_float = 1e-6;

/// Throws InputError unless the matrix has as many rows as columns. Collective.
void check_square(const Communicator& comm, const MatrixSource& source);

/// Throws InputError that names row and column where a value is NaN or infinite. Collective.
void check_finite(const Communicator& comm, const CsrRows& rows, const std::string& description);
/// As check_finite, of the calling rank's rows alone. Not collective.
void require_finite(const CsrRows& rows, const std::string& description);

/// Throws InputError unless the square matrix is symmetric: the message names the worst pair a_ij, a_ji, or says
/// that only one triangle is stored and how to save the whole. `rows` are the calling rank's rows, sorted.
/// Collective.
/// See asymmetry(): one asymmetric pair shows in its two rows unless it is below the tolerance beside the
/// other entries of both.
void check_symmetric(const Communicator& comm, const Partition& partition, const CsrRows& rows,
                     const std::string& description, double tolerance = symmetry_tolerance);

}  // namespace block_eigs
