#pragma once

#include <string>

#include "spmm/matrix/csr_rows.hpp"
#include "spmm/matrix/distributed_matrix.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/parallel/partition.hpp"

// Whether B of A x = lambda B x is positive definite, as far as that is certain and costs little; what these let
// pass may still be indefinite in directions that are hard to find. With D the diagonal of B, all of it is about
// S = D^-1/2 B D^-1/2, whose diagonal is 1.
namespace block_eigs {

/// Throws InputError that names a row where the diagonal is not positive, or a pair of rows where |b_ij| is not
/// less than sqrt(b_ii b_jj), so that x'Bx <= 0 for some x of two entries, or where all entries together sum to
/// zero: B times the vector of ones, or x'Bx, vanishes then. `rows` are the calling rank's rows, finite and
/// sorted. One pass over the entries. Collective.
void check_mass_entries(const Communicator& comm, const Partition& partition, const CsrRows& rows,
                        const std::string& description);

/// Below it a smallest eigenvalue of S is that of no mass matrix as elements have them (1/8 for trilinear ones),
/// and vectors with small x'Bx may hide from who looks at residuals.
inline constexpr double soft_mass = 0.02;

/// How unlike x'Bx can be for vectors x of the same length.
struct MassSpread {
  /// About the smallest eigenvalue of S, from above; or a lower bound that is not below soft_mass.
  double floor = 1.0;
  double diagonal_ratio = 1.0;  ///< largest over smallest entry of D

  /// Whether x'Bx is so small for some x that these are to be looked for, rows being scaled by D.
  bool soft() const { return floor < soft_mass; }
  /// Whether it is so small where rows are not scaled.
  bool uneven() const { return diagonal_ratio * soft_mass > 1.0; }
};

/// `floor` is by a few steps of Lanczos, or by Gershgorin's circles, where these will do, and nothing is done.
/// Throws InputError where the steps find a value that is negative beyond the rounding errors of T. 26 products
/// with one column, whose rows are padded to 32 bytes: 26 (12 nonzeros + 320 rows) bytes in double, as an
/// iteration or two of LOBPCG with 16 columns move. Collective.
template <class T>
MassSpread check_mass_spectrum(const Context<T>& context, DistributedMatrix<T>& b, const std::string& description);

/// Rows up to which check_small_mass is a matter of milliseconds.
constexpr GlobalIndex most_rows_of_small_mass = 1000;

/// Throws InputError where S has no Cholesky factor, or its smallest eigenvalue is within rounding errors, by
/// inverse iteration; for at most most_rows_of_small_mass rows. The diagonal is positive. Collective.
void check_small_mass(const Communicator& comm, const CsrRows& rows, const std::string& description);

}  // namespace block_eigs
