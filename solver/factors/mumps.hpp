#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "solver/factors/row_delivery.hpp"
#include "solver/factors/triangle.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs::factors {

enum class Ordering { minimum_degree, chosen_by_mumps };

/// One instance of MUMPS (MUltifrontal Massively Parallel sparse direct Solver) for LDL^T of symmetric indefinite
/// matrices, and the only class that knows its interface. What is not const is collective, its end too, but for
/// ranks that fail alone: these leave behind what MUMPS has. Nothing throws unless it says so: whether something
/// went wrong is what `failure` says.
class Mumps {
 public:
  /// `spare`: per cent more memory than the analysis foresees, for pivoting. Throws RunError on all ranks.
  Mumps(const Communicator& comm, const Partition& partition, Ordering ordering, int spare);
  ~Mumps();
  Mumps(const Mumps&) = delete;
  Mumps& operator=(const Mumps&) = delete;

  /// Where the pivots of a matrix with these entries go.
  void analyse(Triangle& matrix);
  /// The factors, of a matrix with entries where those of the analysis were. Throws RunError on all ranks where
  /// the library turns out to know nothing of the other ranks.
  void factorize(Triangle& matrix);

  /// What went wrong in the last call.
  enum class Failure { none, memory, pivots, other };
  Failure failure() const;  ///< `pivots`: those took more memory than `spare` left; more would mend it
  int code() const;         ///< MUMPS's INFOG(1)

  /// By the analysis.
  struct Foreseen {
    double bytes = 0.0;    ///< of the calling rank
    double entries = 0.0;  ///< of the factors, over all ranks
    double flops = 0.0;    ///< likewise
  };
  Foreseen foreseen() const;

  /// By the last factors, whose signs are those of the eigenvalues.
  struct Pivots {
    std::int64_t negative = 0;
    std::int64_t zero = 0;
    std::int64_t positive = 0;
  };
  Pivots pivots() const;

  /// Memory for solves of up to `columns` columns. Throws RunError on all ranks.
  void reserve(LocalIndex columns);
  /// block = the solution with `block`, own rows by columns, on the right, by the last factors. Throws RunError on
  /// all ranks where there is no memory.
  void solve(double* block, LocalIndex columns);

 private:
  struct Instance;

  bool all_arrive() const;

  Communicator comm_;
  Communicator ends_;  ///< where ranks meet at the end, beside calls that others may still be in
  Partition partition_;
  int exceptions_;  ///< that were under way when this was made
  std::unique_ptr<Instance> instance_;
  std::optional<RowDelivery> delivery_;  ///< from where the pivots of the last factors are; none on one rank
};

}  // namespace block_eigs::factors
