#include "io/petsc/bridge/petsc_factorization.hpp"

#include <petscmat.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "io/petsc/bridge/petsc_matrix.hpp"
#include "io/petsc/bridge/petsc_session.hpp"
#include "spmm/device/address_space.hpp"
#include "spmm/device/memory_left.hpp"
#include "spmm/error.hpp"

namespace block_eigs::petsc {

namespace {

/// Per cent of memory beyond what the analysis foresees, at first and at last.
constexpr int least_spare = 50;
constexpr int most_spare = 20000;

constexpr const char* factorising = "factorising A - sigma B";
/// Of a nonzero of PETSc's.
constexpr double entry_bytes = sizeof(double) + sizeof(PetscInt);
/// Of a nonzero of A while the analysis is made: A in PETSc's form, MUMPS's copy, and the graph for its ordering.
constexpr double bytes_of_analysis = 6.0 * entry_bytes;

/// A - sigma I with every diagonal entry stored, which MatShift needs on several ranks.
CsrRows minus_sigma(const CsrRows& rows, double sigma) {
  CsrRows result;
  result.row_begin = rows.row_begin;
  result.global_rows = rows.global_rows;
  result.global_columns = rows.global_columns;
  result.row_offsets = {0};
  const auto count = rows.columns.size() + rows.row_offsets.size();
  result.row_offsets.reserve(rows.row_offsets.size());
  result.columns.reserve(count);
  result.values.reserve(count);
  for (std::size_t i = 0; i + 1 < rows.row_offsets.size(); ++i) {
    const GlobalIndex own = rows.row_begin + static_cast<GlobalIndex>(i);
    bool stored = false;
    const auto put = [&](GlobalIndex column, double value) {
      result.columns.push_back(column);
      result.values.push_back(value);
    };
    for (Offset k = rows.row_offsets[i]; k < rows.row_offsets[i + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (!stored && rows.columns[at] > own) put(own, -sigma);
      stored = stored || rows.columns[at] >= own;
      put(rows.columns[at], rows.columns[at] == own ? rows.values[at] - sigma : rows.values[at]);
    }
    if (!stored) put(own, -sigma);
    result.row_offsets.push_back(static_cast<Offset>(result.columns.size()));
  }
  return result;
}

/// A - sigma B as PETSc holds it. Collective; throws on all ranks.
OwnedMat shifted(const Communicator& comm, const CsrRows& rows_a, const CsrRows* rows_b,
                 const Partition& partition, double sigma) {
  CsrRows rows;
  comm.collectively([&] {
    if (rows_b == nullptr) rows = minus_sigma(rows_a, sigma);
  });
  OwnedMat a = make_aij(comm, rows_b == nullptr ? rows : rows_a, partition);
  if (rows_b != nullptr) {
    const OwnedMat b = make_aij(comm, *rows_b, partition);
    // The pattern must be that of the analysis, A's and B's, and PETSc adds nothing to A where a factor is 0.
    const double factor = sigma != 0.0 ? -sigma : -std::numeric_limits<double>::min();
    check(MatAXPY(a.get(), factor, b.get(), DIFFERENT_NONZERO_PATTERN), factorising);
  }
  check(MatSetOption(a.get(), MAT_SYMMETRIC, PETSC_TRUE), factorising);
  return a;
}

/// Whether some row is so much longer than the others that it is a neighbour of whole parts of the graph.
/// Collective.
bool has_hubs(const Communicator& comm, const CsrRows& a) {
  constexpr double long_row = 64.0;
  constexpr double means = 16.0;
  Offset longest = 0;
  for (std::size_t i = 0; i + 1 < a.row_offsets.size(); ++i)
    longest = std::max(longest, a.row_offsets[i + 1] - a.row_offsets[i]);
  const double mean = static_cast<double>(comm.sum(std::int64_t{a.nonzeros()})) /
                      static_cast<double>(std::max<GlobalIndex>(a.global_rows, 1));
  const auto most = static_cast<double>(comm.max(static_cast<GlobalIndex>(longest)));
  return most > long_row && most > means * mean;
}

enum class Ordering { minimum_degree, chosen_by_mumps };

/// Not factorised yet. `spare`: per cent more memory than the analysis foresees, for pivoting.
OwnedMat make_factor(Mat a, int spare, Ordering ordering) {
  Mat factor = nullptr;
  check(MatGetFactor(a, MATSOLVERMUMPS, MAT_FACTOR_CHOLESKY, &factor), factorising);
  OwnedMat owned(factor);
  check(MatMumpsSetIcntl(factor, 13, 1), factorising);  // the root on one process: else its pivots are not counted
  check(MatMumpsSetIcntl(factor, 24, 1), factorising);  // null pivots are detected and counted
  check(MatMumpsSetIcntl(factor, 14, spare), factorising);
  if (ordering == Ordering::minimum_degree) {
    // PETSc 3.18 overwrites what MatMumpsSetIcntl says of the ordering.
    check(PetscOptionsSetValue(nullptr, "-block_eigs_minimum_degree_mat_mumps_icntl_7", "0"), factorising);
    check(MatSetOptionsPrefix(factor, "block_eigs_minimum_degree_"), factorising);
  }
  return owned;
}

/// In units that memory is spoken of in.
std::string megabytes(double bytes) { return std::to_string(static_cast<std::int64_t>(bytes / 1e6) + 1) + " MB"; }

}  // namespace

bool has_factorization(const Communicator& comm) {
  initialize(comm);
  check(MatInitializePackage(), "starting PETSc");  // which is when solvers register
  PetscBool package = PETSC_FALSE;
  PetscBool type = PETSC_FALSE;
  check(MatSolverTypeGet(MATSOLVERMUMPS, comm.size() > 1 ? MATMPIAIJ : MATSEQAIJ, MAT_FACTOR_CHOLESKY, &type,
                         &package, nullptr),
        "asking PETSc for MUMPS");
  return !comm.any(type != PETSC_TRUE);
}

void require_factorization(const Communicator& comm, const FactorizationUse& use) {
  const bool available = has_factorization(comm);
  comm.collectively([&] {
    require(available, std::string(use.wanted_by) +
                           " needs MUMPS, which this PETSc lacks; build PETSc with --download-mumps "
                           "--download-scalapack or take Debian's libpetsc-real-dev, or " +
                           use.instead);
  });
}

struct Factorization::Factor {
  Communicator comm;
  Partition partition;
  FactorizationUse use;
  bool has_hubs = false;
  OwnedMat factor{};
  int spare = least_spare;
  std::optional<Ordering> ordering{};  ///< the one with the fewest operations, once it is known
  FactorSize size{};
  double held = 0.0;  ///< bytes of the last factors, which MUMPS gives back before it makes others
  double to_be_held = 0.0;

  RunError failure(const std::string& what) const {
    return RunError(what + "; " + use.instead + ", or more nodes");
  }

  /// A new analysis of `a`, with what `spare` says. What MUMPS orders by on its own takes minutes on graphs
  /// without small separators, whose factors nobody could hold, and where a hub is a neighbour of all rows: it is
  /// asked only where minimum degree, which takes seconds, finds factors that are within reach and of which there
  /// is something to be saved. `stored` are the nonzeros of `a`, those of all ranks. Collective.
  void analyse(Mat a, double stored) {
    constexpr double too_many_operations = 1e14;
    constexpr double too_much_fill = 600.0;    // 250 to 400 for grids in three dimensions of a million rows
    constexpr double few_operations = 2000.0;  // of an entry of A; grids of a million rows in two dimensions
    if (!ordering) {
      ordering = Ordering::minimum_degree;
      analyse_in_order(a);
      const double flops = size.flops;
      if (flops > too_many_operations || size.entries > too_much_fill * stored) return;
      if (has_hubs || flops < few_operations * stored) return;
      ordering = Ordering::chosen_by_mumps;
      analyse_in_order(a);
      if (!has_failed() && size.flops <= flops) return;
      ordering = Ordering::minimum_degree;
    }
    analyse_in_order(a);
  }

  void analyse_in_order(Mat a) {
    factor = make_factor(a, spare, *ordering);
    MatFactorInfo info{};
    check(MatFactorInfoInitialize(&info), factorising);
    check(MatCholeskyFactorSymbolic(factor.get(), a, nullptr, &info), factorising);
    read_size(a);
  }

  /// What MUMPS says of all ranks.
  bool has_failed() const {
    MatFactorError error = MAT_FACTOR_NOERROR;
    check(MatFactorGetError(factor.get(), &error), factorising);
    return error != MAT_FACTOR_NOERROR;
  }

  /// Whether pivoting took more memory than was set aside for it, which more would mend. Collective.
  bool wants_more() const {
    PetscInt info = 0;
    check(MatMumpsGetInfog(factor.get(), 1, &info), factorising);
    return comm.any(info == -8 || info == -9) && spare < most_spare;
  }

  /// Throws what MUMPS has to complain about, on all ranks.
  void check_state() const {
    MatFactorError error = MAT_FACTOR_NOERROR;
    check(MatFactorGetError(factor.get(), &error), factorising);
    const bool memory = comm.any(error == MAT_FACTOR_OUTMEMORY);
    if (!comm.any(error != MAT_FACTOR_NOERROR)) return;
    PetscInt info = 0;
    check(MatMumpsGetInfog(factor.get(), 1, &info), factorising);
    const RunError error_of_all = failure(std::string(factorising) + (memory ? ": out of memory" : " failed") +
                                          " (MUMPS INFOG(1) = " + std::to_string(info) + ")");
    throw Agreed<RunError>(memory ? of_memory(error_of_all) : error_of_all);
  }

  /// Collective: throws on all ranks where `bytes`, of the calling rank, are more than it or its node has left.
  void require_memory(double bytes) const {
    const auto own = static_cast<double>(address_space_left());
    const double most = comm.max(bytes);
    const std::string needed =
        std::string(factorising) + " would take " + megabytes(most) + " of memory a rank, and ";
    if (comm.any(bytes > own))
      throw_of_memory(needed + megabytes(-comm.max(-own)) + " are left" + address_space_remark());
    const double of_node = comm.sum(bytes) / comm.size() * comm.node_size();
    const double left = -comm.max(-shared_memory_left());
    if (comm.any(of_node > left))
      throw_of_memory(needed + "no more than " + megabytes(left) + " are left for all ranks of a node");
  }

  [[noreturn]] void throw_of_memory(const std::string& what) const {
    throw Agreed<RunError>(of_memory(failure(what)));
  }

  /// Of this rank.
  static double nonzeros_of(Mat a) {
    MatInfo local{};
    check(MatGetInfo(a, MAT_LOCAL, &local), factorising);
    return local.nz_used;
  }

  /// What the analysis of `a` says. Not collective.
  void read_size(Mat a) {
    PetscInt of_mumps = 0;  // in megabytes
    check(MatMumpsGetInfo(factor.get(), 15, &of_mumps), factorising);
    // A - sigma B is made anew each time, from rows in our form or with another matrix of PETSc's.
    to_be_held = 1e6 * static_cast<double>(of_mumps);
    size.bytes = to_be_held + 3.0 * entry_bytes * nonzeros_of(a);
    PetscInt entries = 0;  // in millions where it is negative
    check(MatMumpsGetInfog(factor.get(), 20, &entries), factorising);
    size.entries = entries < 0 ? -1e6 * static_cast<double>(entries) : static_cast<double>(entries);
    PetscReal flops = 0.0;
    check(MatMumpsGetRinfog(factor.get(), 1, &flops), factorising);
    size.flops = flops;
  }
};

Factorization::Factorization(const Communicator& comm, const CsrRows& a, const CsrRows* b,
                             const Partition& partition, double sigma, const FactorizationUse& use)
    : factor_(new Factor{comm, partition, use, has_hubs(comm, a)}) {
  require_factorization(comm, use);
  const auto nonzeros = static_cast<double>(a.values.size() + (b != nullptr ? b->values.size() : 0));
  factor_->require_memory(bytes_of_analysis * nonzeros);
  const OwnedMat k = shifted(comm, a, b, partition, sigma);
  const double stored = comm.sum(Factor::nonzeros_of(k.get()));
  comm.collectively([&] { factor_->analyse(k.get(), stored); });
  factor_->check_state();
}

Factorization::~Factorization() = default;

const FactorSize& Factorization::size() const { return factor_->size; }

void Factorization::require_memory(LocalIndex columns) const {
  // Blocks that come and go leave holes in the heap and in address space.
  constexpr double with_holes = 1.4;
  factor_->require_memory(std::max(0.0, factor_->size.bytes - factor_->held) +
                          with_holes * solve_bytes(factor_->comm, factor_->partition, columns));
}

Inertia Factorization::factorize(const CsrRows& a, const CsrRows* b, double sigma) {
  require_memory();
  const Communicator& comm = factor_->comm;
  const OwnedMat k = shifted(comm, a, b, factor_->partition, sigma);
  factor_->held = 0.0;
  const auto eliminate = [&] {
    MatFactorInfo info{};
    check(MatFactorInfoInitialize(&info), factorising);
    check(MatCholeskyFactorNumeric(factor_->factor.get(), k.get(), &info), factorising);
  };
  comm.collectively(eliminate);
  while (factor_->wants_more()) {
    factor_->spare *= 8;
    const double stored = comm.sum(Factor::nonzeros_of(k.get()));
    comm.collectively([&] { factor_->analyse(k.get(), stored); });
    factor_->check_state();
    require_memory();
    comm.collectively(eliminate);
  }
  factor_->check_state();
  factor_->held = factor_->to_be_held;
  PetscInt below = 0;
  PetscInt at = 0;
  PetscInt above = 0;
  check(MatGetInertia(factor_->factor.get(), &below, &at, &above), factorising);
  return {below, at, above};
}

void Factorization::solve(Mat f, Mat x) {
  check(MatMatSolve(factor_->factor.get(), f, x), "solving with the factors of A - sigma B");
}

Inertia inertia(const Communicator& comm, const CsrRows& a, const CsrRows* b, const Partition& partition,
                double sigma) {
  const FactorizationUse use{"eigensolver.verify: inertia", "use verify: probe, which needs no factorisation"};
  return Factorization(comm, a, b, partition, sigma, use).factorize(a, b, sigma);
}

}  // namespace block_eigs::petsc
