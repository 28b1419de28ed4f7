#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs::factors {

/// Eigenvalues of a symmetric pencil on either side of a number, with their multiplicities.
struct Inertia {
  std::int64_t below = 0;
  std::int64_t at = 0;  ///< that cannot be told from the number itself
  std::int64_t above = 0;
};

/// What a factorisation comes to, by MUMPS's analysis of where the entries are.
struct FactorSize {
  double bytes = 0.0;    ///< memory of the calling process beside what is there before it; many times A's maybe
  double entries = 0.0;  ///< of the factors, over all ranks
  double flops = 0.0;    ///< likewise; both are the same on all ranks
};

/// Host memory of the calling rank that solves with factors take beside these, for blocks of so many columns: one
/// by columns, on several ranks one where the pivots are and two for the way from there, and copies that MUMPS
/// makes of some columns at a time. By measurement.
inline double solve_bytes(const Communicator& comm, const Partition& partition, LocalIndex columns) {
  constexpr LocalIndex at_a_time = 32;
  constexpr double row_bytes = 24.0;  // of where rows go
  const bool alone = comm.size() == 1;
  const double block_columns = (alone ? 1.0 : 4.0) * columns + (alone ? 1.0 : 2.0) * std::min(columns, at_a_time);
  // MUMPS deals pivots about evenly, however rows are dealt.
  const double mean = static_cast<double>(partition.rows()) / comm.size();
  const double rows = std::max<double>(mean, partition.size(comm.rank()));
  return (block_columns * sizeof(double) + (alone || columns == 0 ? 0.0 : row_bytes)) * rows;
}

/// For messages: who wants a factorisation, and what to take where there is none.
struct Use {
  const char* wanted_by = "";  ///< "preconditioner direct"
  const char* instead = "";    ///< "use type: auto"
};

/// Whether this build has MUMPS.
bool available();
/// Throws InputError on all ranks, saying what to install, unless it has. Collective.
void require_available(const Communicator& comm, const Use& use);

/// A - sigma B = L D L^T for symmetric A and B (null: the identity) and one sigma after another, by MUMPS
/// (Amestoy, Duff, L'Excellent, Koster 2001). The factors are exact for a matrix within rounding errors of this
/// one. One analysis serves all sigma. On several ranks MUMPS deals work by the load that it meets: last digits
/// may differ from run to run there.
class Factorization {
 public:
  /// Analyses, and factorises nothing yet. `a` and `b` are the calling rank's rows, sorted, dealt by `partition`.
  /// Collective; throws InputError as require_available, RunError where the analysis
  /// fails or there is no memory for it, on all ranks.
  Factorization(const Communicator& comm, const CsrRows& a, const CsrRows* b, const Partition& partition,
                const Use& use);
  ~Factorization();
  Factorization(const Factorization&) = delete;
  Factorization& operator=(const Factorization&) = delete;

  /// Not collective.
  const FactorSize& size() const;

  /// Who wants the next factors, for messages. Not collective.
  void serve(const Use& use);

  /// Collective; throws RunError on all ranks where the limits of a process (`ulimit -v`), of its control group or
  /// of the node leave less than size().bytes and what solves of up to `columns` columns take, 0 for none. Nothing
  /// is factorised.
  void require_memory(LocalIndex columns = 0) const;

  /// Factorises A - sigma B, the rows those of the analysis, and counts by Sylvester's law of inertia: as many
  /// eigenvalues of A x = lambda B x are below sigma, B positive definite, as pivots are negative. sigma must be
  /// farther from any eigenvalue than rounding errors. Collective; throws RunError on all ranks as require_memory
  /// and where the factorisation fails: there are no factors then, and another sigma may be tried.
  Inertia factorize(const CsrRows& a, const CsrRows* b, double sigma) {
    return factorize(a, b, sigma, most_spare);
  }
  /// The same, but it fails where factors outgrow what the analysis has foreseen for more than pivoting commonly
  /// takes. Next to eigenvalues of high multiplicity they may come to be full.
  Inertia factorize_as_foreseen(const CsrRows& a, const CsrRows* b, double sigma) {
    return factorize(a, b, sigma, least_spare);
  }

  /// Memory for solves of up to `columns` columns. Collective; throws RunError on all ranks.
  void reserve(LocalIndex columns);
  /// block = (A - sigma B)^-1 block of the last sigma, `block` the calling rank's rows of so many columns, one
  /// column after another in host memory. Collective; throws RunError on all ranks where MUMPS fails.
  void solve(double* block, LocalIndex columns);

 private:
  /// Per cent of memory beyond what the analysis foresees, at first and at last.
  static constexpr int least_spare = 50;
  static constexpr int most_spare = 20000;

  Inertia factorize(const CsrRows& a, const CsrRows* b, double sigma, int spare);

  struct State;
  std::unique_ptr<State> state_;
};

/// One count. Arguments and errors as those of Factorization. Collective.
Inertia inertia(const Communicator& comm, const CsrRows& a, const CsrRows* b, const Partition& partition,
                double sigma, const Use& use);

}  // namespace block_eigs::factors
