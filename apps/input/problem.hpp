#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apps/config/config.hpp"
#include "apps/input/check_mass.hpp"
#include "apps/input/held_rows.hpp"
#include "apps/input/lone_rows.hpp"
#include "apps/input/scaling.hpp"
#include "io/partition/row_order.hpp"
#include "io/source/matrix_source.hpp"
#include "solver/factors/factorization.hpp"
#include "spmm/matrix/distributed_matrix.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// Where the matrices come from, open, their sizes known and sound.
struct Sources {
  std::unique_ptr<MatrixSource> a;
  std::unique_ptr<MatrixSource> b;  ///< null: the identity
  /// Where these deliver their rows in another order than the file's (order_by_graph), checked already.
  std::shared_ptr<const RowOrder> order{};
};

/// Throws InputError where a matrix cannot be opened or is not square, or the two differ in size. Collective.
Sources open_sources(const Communicator& comm, const RunConfig& config);

/// What a row costs beside its nonzeros: vectors are read and written many times an iteration.
inline constexpr Offset work_of_a_row = 15;

/// `current`, or rows dealt by weight where that leaves a rank with much more than the others. `weights` are those
/// of the rows that `current` gives to the calling rank. Collective.
Partition balanced(const Communicator& comm, const Partition& current, const std::vector<Offset>& weights);

/// The matrices, dealt to ranks. Where entries are very large or very small A and B stand for 2^scaling.a A and
/// 2^scaling.b B, a_rows too: what comes of them has to go through apps/journey/scaled_units.hpp.
template <class T>
struct Problem {
  Context<T> context;
  Partition partition;
  std::unique_ptr<DistributedMatrix<T>> a{};
  std::unique_ptr<DistributedMatrix<T>> b{};  ///< null: the identity
  MassSpread mass_spread{};                   ///< of B, where there is one
  GlobalIndex longest_row = 0;                ///< most nonzeros in a row of A or B
  double build_seconds = 0.0;                 ///< what came after reading
  CsrRows a_rows{};                           ///< A in host memory, where ReadOptions asked to keep it
  CsrRows b_rows{};                           ///< likewise B, where there is one
  /// Of A - sigma B, where an analysis was made: for all who factorise it one after another.
  std::shared_ptr<factors::Factorization> factorization{};
  Scaling scaling{};
  LoneRows lone{};                  ///< of the scaled A and B
  HeldRows held{};                  ///< of the scaled A and B, where they stand alone now
  std::int64_t couplings_of_a = 0;  ///< nonzeros of A that this has left out, on all ranks
  std::int64_t couplings_of_b = 0;
  std::shared_ptr<const RowOrder> order{};  ///< null: rows have the numbers of the file
};

/// Reads the rows of A that `read_problem` will begin with, while a device is not there yet. Rows of a node, so
/// many, stay on one rank. Collective; throws InputError.
void read_ahead(const Communicator& comm, Sources& sources, int unknowns_per_node);

struct ReadOptions {
  SpmmOptions spmm{};
  bool keep_rows = false;       ///< for preconditioners that are built from the entries of A
  bool keep_mass_rows = false;  ///< for factors of A - sigma B
  int unknowns_per_node = 1;    ///< so many consecutive rows stay on one rank, where A's rows are a multiple of it
  bool in_float = false;        ///< whether something works with A in float under a problem in double
  std::optional<Partition> partition{};  ///< how rows are dealt, where that is not to be chosen
  int hold = 0;  ///< the smallest pairs wanted, where rows that a penalty holds may stand alone; else 0
};

/// Rows that are found finite and symmetric, and those of a `mass` with a positive diagonal that is nowhere too
/// small; throws InputError else. Collective.
CsrRows read_checked(const Communicator& comm, MatrixSource& source, const Partition& partition, bool mass,
                     Precision precision);

/// Reads the matrices; throws InputError unless they are finite and symmetric. Rows are dealt evenly, and by their
/// nonzeros where that would leave a rank with much more work than others; sources with an order have it decided.
/// Collective.
template <class T>
Problem<T> read_problem(const Context<T>& context, const Sources& sources, const ReadOptions& options);

/// The same again for another precision, dealt and scaled in the same way. Collective.
template <class T>
Problem<T> read_problem(const Context<T>& context, const Sources& sources, const SpmmOptions& options,
                        const Partition& partition, const Scaling& scaling);

}  // namespace block_eigs
