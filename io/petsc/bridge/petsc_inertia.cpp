#include "io/petsc/bridge/petsc_inertia.hpp"

#include <petscmat.h>

#include <cstddef>
#include <memory>
#include <string>

#include "io/petsc/bridge/petsc_matrix.hpp"
#include "io/petsc/bridge/petsc_session.hpp"
#include "spmm/device/address_space.hpp"
#include "spmm/device/memory_left.hpp"
#include "spmm/error.hpp"

namespace block_eigs::petsc {

namespace {

constexpr const char* counting = "factorising A - sigma B";
constexpr const char* advice = "; use verify: probe, which needs no factorisation, or more nodes";

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

/// A - sigma B as PETSc holds it. Collective.
OwnedMat shifted(const Communicator& comm, const CsrRows& rows_a, const CsrRows* rows_b,
                 const Partition& partition, double sigma) {
  CsrRows rows;
  if (rows_b == nullptr) rows = minus_sigma(rows_a, sigma);
  OwnedMat a = make_aij(comm, rows_b == nullptr ? rows : rows_a, partition);
  if (rows_b != nullptr) {
    const OwnedMat b = make_aij(comm, *rows_b, partition);
    check(MatAXPY(a.get(), -sigma, b.get(), DIFFERENT_NONZERO_PATTERN), counting);
  }
  check(MatSetOption(a.get(), MAT_SYMMETRIC, PETSC_TRUE), counting);
  return a;
}

/// Not factorised yet.
OwnedMat make_factor(Mat a) {
  Mat factor = nullptr;
  check(MatGetFactor(a, MATSOLVERMUMPS, MAT_FACTOR_CHOLESKY, &factor), counting);
  OwnedMat owned(factor);
  check(MatMumpsSetIcntl(factor, 13, 1), counting);   // the root on one process: else its pivots are not counted
  check(MatMumpsSetIcntl(factor, 24, 1), counting);   // null pivots are detected and counted
  check(MatMumpsSetIcntl(factor, 14, 50), counting);  // per cent more memory than was foreseen, for pivoting
  return owned;
}

[[noreturn]] void fail(const std::string& what) { throw Agreed<RunError>(RunError(what)); }

/// Throws what MUMPS has to complain about, on all ranks.
void check_factor(const Communicator& comm, Mat factor) {
  MatFactorError error = MAT_FACTOR_NOERROR;
  check(MatFactorGetError(factor, &error), counting);
  const bool memory = comm.any(error == MAT_FACTOR_OUTMEMORY);
  if (!comm.any(error != MAT_FACTOR_NOERROR)) return;
  PetscInt info = 0;
  check(MatMumpsGetInfog(factor, 1, &info), counting);
  fail(std::string(counting) + (memory ? ": out of memory" : " failed") +
       " (MUMPS INFOG(1) = " + std::to_string(info) + ")" + advice);
}

/// In units that memory is spoken of in.
std::string megabytes(double bytes) { return std::to_string(static_cast<std::int64_t>(bytes / 1e6) + 1) + " MB"; }

/// Collective: throws on all ranks where `bytes`, of the calling rank, are more than it or its node has left.
void require_memory(const Communicator& comm, double bytes) {
  const auto own = static_cast<double>(address_space_left());
  const double most = comm.max(bytes);
  const std::string needed = std::string(counting) + " would take " + megabytes(most) + " of memory a rank, and ";
  if (comm.any(bytes > own))
    fail(needed + megabytes(-comm.max(-own)) + " are left" + address_space_remark() + advice);
  const double of_node = comm.sum(bytes) / comm.size() * comm.node_size();
  const double left = -comm.max(-shared_memory_left());
  if (comm.any(of_node > left))
    fail(needed + "no more than " + megabytes(left) + " are left for all ranks of a node" + advice);
}

}  // namespace

void require_inertia(const Communicator& comm) {
  initialize(comm);
  check(MatInitializePackage(), "starting PETSc");  // which is when solvers register
  PetscBool package = PETSC_FALSE;
  PetscBool type = PETSC_FALSE;
  check(MatSolverTypeGet(MATSOLVERMUMPS, comm.size() > 1 ? MATMPIAIJ : MATSEQAIJ, MAT_FACTOR_CHOLESKY, &type,
                         &package, nullptr),
        "asking PETSc for MUMPS");
  comm.collectively([&] {
    require(type == PETSC_TRUE,
            "eigensolver.verify: inertia needs MUMPS, which this PETSc lacks; build PETSc with --download-mumps "
            "--download-scalapack or take Debian's libpetsc-real-dev, or use verify: probe");
  });
}

struct InertiaCounter::Factor {
  const Communicator& comm;
  const Partition& partition;
  const CsrRows& rows_a;
  const CsrRows* rows_b;
  OwnedMat factor{};
  double bytes = 0.0;
};

InertiaCounter::InertiaCounter(const Communicator& comm, const CsrRows& rows_a, const CsrRows* rows_b,
                               const Partition& partition, double sigma)
    : factor_(new Factor{comm, partition, rows_a, rows_b}) {
  require_inertia(comm);
  comm.collectively([&] {
    const OwnedMat a = shifted(comm, rows_a, rows_b, partition, sigma);
    factor_->factor = make_factor(a.get());
    MatFactorInfo info{};
    check(MatFactorInfoInitialize(&info), counting);
    check(MatCholeskyFactorSymbolic(factor_->factor.get(), a.get(), nullptr, &info), counting);
    PetscInt megabytes = 0;
    check(MatMumpsGetInfo(factor_->factor.get(), 15, &megabytes), counting);
    // A - sigma B is made anew each time, from rows in our form or with another matrix of PETSc's.
    MatInfo local{};
    check(MatGetInfo(a.get(), MAT_LOCAL, &local), counting);
    constexpr double entry = sizeof(double) + sizeof(PetscInt);
    factor_->bytes = 1e6 * static_cast<double>(megabytes) + 3.0 * entry * local.nz_used;
  });
  check_factor(comm, factor_->factor.get());
}

InertiaCounter::~InertiaCounter() = default;

double InertiaCounter::factor_bytes() const { return factor_->bytes; }

Inertia InertiaCounter::count(double sigma) {
  const Communicator& comm = factor_->comm;
  require_memory(comm, factor_->bytes);
  PetscInt below = 0;
  PetscInt at = 0;
  PetscInt above = 0;
  comm.collectively([&] {
    const OwnedMat a = shifted(comm, factor_->rows_a, factor_->rows_b, factor_->partition, sigma);
    MatFactorInfo info{};
    check(MatFactorInfoInitialize(&info), counting);
    check(MatCholeskyFactorNumeric(factor_->factor.get(), a.get(), &info), counting);
  });
  check_factor(comm, factor_->factor.get());
  check(MatGetInertia(factor_->factor.get(), &below, &at, &above), counting);
  return {below, at, above};
}

Inertia inertia(const Communicator& comm, const CsrRows& rows_a, const CsrRows* rows_b, const Partition& partition,
                double sigma) {
  return InertiaCounter(comm, rows_a, rows_b, partition, sigma).count(sigma);
}

}  // namespace block_eigs::petsc
