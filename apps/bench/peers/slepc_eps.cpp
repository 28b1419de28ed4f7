#include "apps/bench/peers/slepc_eps.hpp"

#include <slepceps.h>

#include <chrono>
#include <string>

#include "spmm/error.hpp"

namespace block_eigs::bench {

namespace {

void check(PetscErrorCode code, const char* doing) {
  if (code != 0)
    throw RunError(std::string("SLEPc failed ") + doing + ", error code " +
                   std::to_string(static_cast<int>(code)));
}

void start_slepc(const Communicator& comm) {
  PetscBool started = PETSC_FALSE;
  SlepcInitialized(&started);
  if (started == PETSC_TRUE) return;
  PETSC_COMM_WORLD = comm.handle();
  check(SlepcInitializeNoArguments(), "to start");
}

Mat assemble(const Communicator& comm, const CsrRows& rows, const std::vector<PetscInt>& offsets,
             const std::vector<PetscInt>& columns, const std::string& type) {
  Mat matrix = nullptr;
  check(MatCreate(comm.handle(), &matrix), "creating the matrix");
  check(MatSetSizes(matrix, rows.rows(), rows.rows(), PETSC_DETERMINE, PETSC_DETERMINE), "sizing the matrix");
  check(MatSetType(matrix, type.c_str()), "setting the type of the matrix");
  // Each ignores matrices that are not of its kind.
  check(MatSeqAIJSetPreallocationCSR(matrix, offsets.data(), columns.data(), rows.values.data()),
        "filling the matrix");
  check(MatMPIAIJSetPreallocationCSR(matrix, offsets.data(), columns.data(), rows.values.data()),
        "filling the matrix");
  return matrix;
}

Run collect(EPS solver, Mat matrix, int pairs) {
  Run run;
  PetscInt converged = 0;
  PetscInt iterations = 0;
  check(EPSGetConverged(solver, &converged), "counting pairs");
  check(EPSGetIterationNumber(solver, &iterations), "counting iterations");
  run.iterations = static_cast<int>(iterations);
  const PetscInt found = std::min<PetscInt>(converged, pairs);
  Vec vector = nullptr;
  check(MatCreateVecs(matrix, nullptr, &vector), "making a vector");
  PetscInt local = 0;
  VecGetLocalSize(vector, &local);
  run.vectors.resize(static_cast<std::size_t>(local) * static_cast<std::size_t>(found));
  for (PetscInt j = 0; j < found; ++j) {
    PetscScalar value = 0.0;
    check(EPSGetEigenpair(solver, j, &value, nullptr, vector, nullptr), "fetching a pair");
    run.eigenvalues.push_back(static_cast<double>(value));
    const PetscScalar* entries = nullptr;
    VecGetArrayRead(vector, &entries);
    for (PetscInt i = 0; i < local; ++i)
      run.vectors[static_cast<std::size_t>(i) * static_cast<std::size_t>(found) + static_cast<std::size_t>(j)] =
          entries[i];
    VecRestoreArrayRead(vector, &entries);
  }
  VecDestroy(&vector);
  return run;
}

}  // namespace

bool have_slepc() { return true; }

bool have_slepc_with(const Communicator& comm, const std::string& preconditioner) {
  start_slepc(comm);
  PC made = nullptr;
  check(PCCreate(comm.handle(), &made), "creating a preconditioner");
  PetscErrorCode (*create)(PC) = nullptr;
  check(PetscFunctionListFind(PCList, preconditioner.c_str(), &create), "looking for a preconditioner");
  check(PCDestroy(&made), "destroying a preconditioner");
  return create != nullptr;
}

Contender slepc_contender(const Communicator& comm, const CsrRows& rows, int pairs, double tolerance,
                          int max_iterations, const std::string& name, const std::string& options,
                          const std::string& mat_type) {
  start_slepc(comm);
  const std::vector<PetscInt> offsets(rows.row_offsets.begin(), rows.row_offsets.end());
  const std::vector<PetscInt> columns(rows.columns.begin(), rows.columns.end());
  const auto run = [=, &rows] {
    check(PetscOptionsInsertString(nullptr, options.c_str()), "reading its options");
    const auto began = std::chrono::steady_clock::now();
    Mat matrix = assemble(comm, rows, offsets, columns, mat_type);
    EPS solver = nullptr;
    check(EPSCreate(comm.handle(), &solver), "creating the solver");
    EPSSetOperators(solver, matrix, nullptr);
    EPSSetProblemType(solver, EPS_HEP);
    EPSSetWhichEigenpairs(solver, EPS_SMALLEST_REAL);
    EPSSetDimensions(solver, pairs, PETSC_DEFAULT, PETSC_DEFAULT);
    EPSSetTolerances(solver, tolerance, max_iterations);
    EPSSetConvergenceTest(solver, EPS_CONV_REL);
    check(EPSSetFromOptions(solver), "taking its options");
    check(EPSSolve(solver), "solving");
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    Run result = collect(solver, matrix, pairs);
    result.seconds = seconds;
    EPSDestroy(&solver);
    MatDestroy(&matrix);
    check(PetscOptionsClear(nullptr), "forgetting its options");
    return result;
  };
  return {name, options, run};
}

void end_slepc() {
  PetscBool started = PETSC_FALSE;
  SlepcInitialized(&started);
  if (started == PETSC_TRUE) SlepcFinalize();
}

}  // namespace block_eigs::bench
