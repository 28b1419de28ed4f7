#pragma once

#include <string>
#include <vector>

#include "apps/input/lone_rows.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// Rows that a penalty holds at zero (Dirichlet conditions with 10^30 on the diagonal): what couples them to
/// others changes eigenvalues of these by less than rounding errors of their own rows do, and hides them from
/// every method that knows A by its norm. See docs/theory.md, "Rows that a penalty holds".
struct HeldRows {
  std::vector<LocalIndex> own;    ///< of the calling rank, ascending
  std::vector<double> penalties;  ///< a_ii of these
  std::vector<double> values;     ///< their eigenvalues a_ii / b_ii, behind those of all other rows
  std::vector<GlobalIndex> all;   ///< of all ranks, ascending
  double stand_in = 0.0;          ///< the largest sum of |a_kj| over another row k

  bool any() const { return !all.empty(); }
};

/// "160 rows are held at zero by a penalty"; empty where there are none.
std::string description(const HeldRows& held);

/// Of these rows of A, B being the identity. Collective.
HeldRows find_held_rows(const Communicator& comm, const CsrRows& a);

/// The same with these rows of B: none where B is so large in one of them that its penalty is none, or couples it
/// to others so much that this counts. Collective.
HeldRows held_with_mass(const Communicator& comm, HeldRows held, const CsrRows& b);

/// Leaves out what couples them to other rows, in A or B, so that they stand alone; returns how many entries of
/// the calling rank's rows. Not collective.
Offset take_out_couplings(const HeldRows& held, CsrRows& rows);

/// A number like others takes the place of a_ii: norms of A are those of the other rows then. Not collective.
void replace_penalties(const HeldRows& held, CsrRows& a);

/// For 2^exponent_a A and 2^exponent_b B in place of A and B. Not collective.
void scale_penalties(int exponent_a, int exponent_b, HeldRows& held);

/// Their eigenvalues in place of those of what stands in for them. Not collective.
void put_penalties(const HeldRows& held, LoneRows& lone);

}  // namespace block_eigs
