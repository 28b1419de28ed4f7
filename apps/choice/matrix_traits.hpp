#pragma once

#include <string>

#include "solver/lanczos/spectrum_end.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// What the entries of a symmetric matrix, and a look at its spectrum, tell of how to precondition it, over all
/// ranks and equal on all of them.
/// A row without couplings is an eigenpair by itself and says nothing about the other ones, whatever its diagonal
/// entry is: all that rows are compared by is of those that are coupled, where there are any.
struct MatrixTraits {
  double rows = 0.0;
  double nonzeros = 0.0;
  double alone = 0.0;           ///< rows without couplings
  bool null_rows = false;       ///< some of them have a diagonal entry that is not positive, or none
  double longest_row = 0.0;     ///< most nonzeros in a row
  double hubs = 0.0;            ///< rows of over eight times the mean; 0 where the longest is none
  double in_hubs = 0.0;         ///< share of all nonzeros that they hold
  double least_diagonal = 0.0;  ///< smallest entry of the diagonal, 0 where one is not stored
  double least_row = 0.0;       ///< smallest sum |a_ij| of a row that is not zero
  double zero_sums = 0.0;       ///< share of rows whose entries add up to nothing but rounding errors
  double dominant = 0.0;        ///< share of rows with a_ii >= sum |a_ij|, j != i, to rounding errors
  double lower_bound = 0.0;     ///< Gershgorin's: no eigenvalue of coupled rows is smaller
  double norm_inf = 0.0;        ///< the largest such sum of all rows
  double scaled_norm = 0.0;     ///< max_i sum_j |a_ij| / |a_ii|, with 1 for a zero a_ii
  double largest_part = 0.0;    ///< rows of the largest that entries couple, with a mass's; 0 where not known
  SpectrumEnd wanted_end{};     ///< of its spectrum, where somebody looked: no matter of entries
  SpectrumEnd scaled_lower{};   ///< the lower one of D^-1/2 A D^-1/2, D the diagonal, likewise

  /// Where the lower end is wanted: that end of the spectrum with rows scaled alike, as far as anything is known
  /// of it.
  const SpectrumEnd& alike_lower() const { return scaled_lower.known ? scaled_lower : wanted_end; }
  double mean_row() const { return rows > alone ? (nonzeros - alone) / (rows - alone) : 0.0; }
  /// Whether a few rows are so much longer than the others as those of a graph with hubs.
  bool has_hubs() const { return longest_row > 64.0 && longest_row > 16.0 * mean_row(); }
  /// Whether hubs hold it together, as those of power-law graphs do, and are not some among the rows of a mesh,
  /// nor so few that factors which take them last have hardly more entries: an arrow, a wheel.
  bool scale_free() const { return has_hubs() && in_hubs > 0.1 && hubs * rows > 4.0 * nonzeros; }
  /// Whether it is so full that as a dense matrix it takes about as much memory.
  bool nearly_full() const { return 8.0 * nonzeros >= rows * rows; }
  /// Whether it looks like a discretised diffusion or elasticity, or the Laplacian of a graph that is like a mesh:
  /// most rows map the constant to zero, and the diagonal is positive.
  bool like_diffusion() const { return least_diagonal > 0.0 && zero_sums > 0.5 && !has_hubs(); }
  /// Whether it looks like one, but of more than second order: a plate, a beam, a shell. Its rows are not
  /// dominated by the diagonal as those of an M-matrix, and its low values lie closer together than those of a
  /// diffusion in two dimensions; lines come with dominant rows.
  bool of_higher_order() const;
  /// Whether rows differ so much in size that they must be scaled alike.
  bool badly_scaled() const { return norm_inf > 100.0 * least_row; }
  /// Whether it consists of parts that nothing couples, each at most half of it.
  bool falls_apart() const { return largest_part > 0.0 && 2.0 * largest_part <= rows - alone; }
  /// Whether the lower end of the spectrum is about as far from zero as its norm allows: some eigenvalue is no
  /// larger than the least diagonal entry.
  bool reaches_down() const { return least_diagonal < -0.1 * norm_inf; }
  /// Whether some eigenvalue is negative, and rows differ no more than those of filters' matrices may: a coupled
  /// row whose diagonal entry is not positive proves the former.
  bool plainly_indefinite() const { return least_diagonal <= 0.0 && dominant < 1.0 && norm_inf < 1e4 * least_row; }
  /// Of the mesh that it may come from: rows with few neighbours are taken for those of a plane.
  double mesh_dimension() const;
  /// A bound of the condition of D^-1/2 A D^-1/2 by Gershgorin's discs; infinite where they touch zero.
  double scaled_condition() const;
  /// "rows differ in size by a factor of 1e+05"
  std::string differing_rows() const;
  /// What speaks for multigrid.
  std::string reason_for_multigrid() const;
  /// Whether Gershgorin's discs prove that no eigenvalue of coupled rows is negative.
  bool semidefinite() const { return lower_bound >= -1e-10 * norm_inf; }
};

/// What those of a mass matrix B tell of how to precondition with it.
struct MassTraits {
  double diagonal_ratio = 1.0;  ///< the largest over the smallest entry of the diagonal
  double scaled_norm = 1.0;     ///< max_i sum_j |b_ij| / b_ii: 1 where it is diagonal
};

/// Of the matrix whose rows are dealt to ranks by `partition`. Collective.
MatrixTraits examine(const Communicator& comm, const CsrRows& rows, const Partition& partition);

}  // namespace block_eigs
