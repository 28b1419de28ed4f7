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
  std::vector<LocalIndex> own;   ///< of the calling rank, ascending
  std::vector<double> diagonal;  ///< a_ii of these
  std::vector<GlobalIndex> all;  ///< of all ranks, ascending
  double stand_in = 0.0;         ///< as large as another row of A

  bool any() const { return !all.empty(); }
};

/// "160 rows are held at zero by a penalty"; empty where there are none.
std::string description(const HeldRows& held);

/// Of these rows of A. Collective.
HeldRows find_held_rows(const Communicator& comm, const CsrRows& a);

/// Leaves out what couples them to other rows, in A or B, so that they stand alone; returns how many entries of
/// the calling rank's rows. Not collective.
Offset take_out_couplings(const HeldRows& held, CsrRows& rows);

/// A number like others takes the place of a_ii: norms of A are those of the other rows then. Not collective.
void replace_penalties(const HeldRows& held, CsrRows& a);

/// 2^exponent A instead of A. Not collective.
void scale_penalties(int exponent, HeldRows& held);

/// The eigenvalues of rows that stand alone because of them. Not collective.
void put_penalties(const HeldRows& held, LoneRows& lone);

}  // namespace block_eigs
