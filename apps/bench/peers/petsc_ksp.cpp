#include "apps/bench/peers/petsc_ksp.hpp"

#include <petscdevice.h>
#include <petscksp.h>

#include <chrono>

#include "io/petsc/bridge/petsc_session.hpp"

namespace block_eigs::bench {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// A system in PETSc's hands; column-major right-hand sides and solution, as PETSc's dense matrices are.
struct System {
  Mat matrix = nullptr;
  Mat f = nullptr;
  Mat x = nullptr;
  KSP solver = nullptr;

  System() = default;
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  ~System() {
    KSPDestroy(&solver);
    MatDestroy(&x);
    MatDestroy(&f);
    MatDestroy(&matrix);
  }
};

void make_right_hand_sides(const Communicator& comm, PetscInt rows, const std::vector<double>& f, int sides,
                           bool on_gpu, System& system) {
  for (Mat* block : {&system.f, &system.x}) {
    petsc::check(MatCreate(comm.handle(), block), "making right-hand sides");
    petsc::check(MatSetSizes(*block, rows, PETSC_DECIDE, PETSC_DETERMINE, sides), "sizing right-hand sides");
    petsc::check(MatSetType(*block, on_gpu ? "densecuda" : MATDENSE), "setting their type");
    petsc::check(MatSetUp(*block), "setting right-hand sides up");
  }
  PetscScalar* values = nullptr;
  petsc::check(MatDenseGetArrayWrite(system.f, &values), "filling right-hand sides");
  for (PetscInt i = 0; i < rows; ++i) {
    for (int j = 0; j < sides; ++j) {
      values[i + rows * j] =
          f[static_cast<std::size_t>(i) * static_cast<std::size_t>(sides) + static_cast<std::size_t>(j)];
    }
  }
  petsc::check(MatDenseRestoreArrayWrite(system.f, &values), "filling right-hand sides");
  for (Mat block : {system.f, system.x}) {
    petsc::check(MatAssemblyBegin(block, MAT_FINAL_ASSEMBLY), "assembling right-hand sides");
    petsc::check(MatAssemblyEnd(block, MAT_FINAL_ASSEMBLY), "assembling right-hand sides");
    // PETSc moves all of them to where a column is wanted.
    Vec column = nullptr;
    petsc::check(MatDenseGetColumnVecRead(block, 0, &column), "moving right-hand sides");
    petsc::check(MatDenseRestoreColumnVecRead(block, 0, &column), "moving right-hand sides");
  }
}

/// The matrix of `mat_type` from the rows; the vectors of offsets and columns are PETSc's index type.
Mat assemble(const Communicator& comm, const CsrRows& rows, const std::vector<PetscInt>& offsets,
             const std::vector<PetscInt>& columns, const std::string& mat_type) {
  Mat matrix = nullptr;
  petsc::check(MatCreate(comm.handle(), &matrix), "creating the matrix");
  petsc::check(MatSetSizes(matrix, rows.rows(), rows.rows(), PETSC_DETERMINE, PETSC_DETERMINE), "sizing it");
  petsc::check(MatSetType(matrix, mat_type.c_str()), "setting the type of the matrix");
  // Each ignores matrices that are not of its kind.
  petsc::check(MatSeqAIJSetPreallocationCSR(matrix, offsets.data(), columns.data(), rows.values.data()),
               "filling the matrix");
  petsc::check(MatMPIAIJSetPreallocationCSR(matrix, offsets.data(), columns.data(), rows.values.data()),
               "filling the matrix");
  return matrix;
}

/// Waits for what PETSc has put into the queue of a GPU.
void finish() {
  PetscDeviceContext context = nullptr;
  petsc::check(PetscDeviceContextGetCurrentContext(&context), "waiting for the GPU");
  petsc::check(PetscDeviceContextSynchronize(context), "waiting for the GPU");
}

int solve_one_by_one(const System& system, int sides) {
  int iterations = 0;
  for (PetscInt j = 0; j < sides; ++j) {
    Vec f = nullptr;
    Vec x = nullptr;
    petsc::check(MatDenseGetColumnVecRead(system.f, j, &f), "taking a right-hand side");
    petsc::check(MatDenseGetColumnVecWrite(system.x, j, &x), "taking a solution");
    petsc::check(KSPSolve(system.solver, f, x), "solving");
    petsc::check(MatDenseRestoreColumnVecWrite(system.x, j, &x), "giving a solution back");
    petsc::check(MatDenseRestoreColumnVecRead(system.f, j, &f), "giving a right-hand side back");
    PetscInt steps = 0;
    petsc::check(KSPGetIterationNumber(system.solver, &steps), "counting iterations");
    iterations += static_cast<int>(steps);
  }
  return iterations;
}

int solve_together(const System& system) {
  petsc::check(KSPMatSolve(system.solver, system.f, system.x), "solving");
  PetscInt steps = 0;
  petsc::check(KSPGetTotalIterations(system.solver, &steps), "counting iterations");
  return static_cast<int>(steps);
}

std::vector<double> collect(const System& system, PetscInt rows, int sides) {
  std::vector<double> solution(static_cast<std::size_t>(rows) * static_cast<std::size_t>(sides));
  const PetscScalar* values = nullptr;
  petsc::check(MatDenseGetArrayRead(system.x, &values), "reading the solution");
  for (PetscInt i = 0; i < rows; ++i) {
    for (int j = 0; j < sides; ++j) {
      solution[static_cast<std::size_t>(i) * static_cast<std::size_t>(sides) + static_cast<std::size_t>(j)] =
          values[i + rows * j];
    }
  }
  petsc::check(MatDenseRestoreArrayRead(system.x, &values), "reading the solution");
  return solution;
}

}  // namespace

bool have_ksp(const Communicator& comm, const std::string& type) {
  petsc::initialize(comm);
  KSP solver = nullptr;
  petsc::check(KSPCreate(comm.handle(), &solver), "creating a solver");
  // A type that is not there is an answer, not a failure.
  PetscErrorCode (*create)(KSP) = nullptr;
  petsc::check(PetscFunctionListFind(KSPList, type.c_str(), &create), "looking for a solver");
  petsc::check(KSPDestroy(&solver), "destroying a solver");
  return create != nullptr;
}

bool have_pc(const Communicator& comm, const std::string& type) {
  petsc::initialize(comm);
  PC preconditioner = nullptr;
  petsc::check(PCCreate(comm.handle(), &preconditioner), "creating a preconditioner");
  PetscErrorCode (*create)(PC) = nullptr;
  petsc::check(PetscFunctionListFind(PCList, type.c_str(), &create), "looking for a preconditioner");
  petsc::check(PCDestroy(&preconditioner), "destroying a preconditioner");
  return create != nullptr;
}

Contender ksp_contender(const Communicator& comm, const CsrRows& rows, const std::vector<double>& f, int sides,
                        double tolerance, int max_iterations, const std::string& name, KspUse use,
                        const std::string& options, const std::string& mat_type) {
  petsc::initialize(comm);
  const std::vector<PetscInt> offsets(rows.row_offsets.begin(), rows.row_offsets.end());
  const std::vector<PetscInt> columns(rows.columns.begin(), rows.columns.end());
  const auto run = [=, &rows, &f] {
    petsc::check(PetscOptionsInsertString(nullptr, options.c_str()), "reading its options");
    System system;
    make_right_hand_sides(comm, rows.rows(), f, sides, mat_type != MATAIJ, system);
    finish();
    const auto began = Clock::now();
    system.matrix = assemble(comm, rows, offsets, columns, mat_type);
    petsc::check(KSPCreate(comm.handle(), &system.solver), "creating the solver");
    petsc::check(KSPSetOperators(system.solver, system.matrix, system.matrix), "setting the matrix");
    petsc::check(KSPSetTolerances(system.solver, tolerance, 0.0, PETSC_DEFAULT, max_iterations),
                 "setting the tolerance");
    petsc::check(KSPSetFromOptions(system.solver), "taking its options");
    petsc::check(KSPSetUp(system.solver), "setting up");
    Run result;
    result.setup_seconds = seconds_since(began);
    result.iterations = use == KspUse::together ? solve_together(system) : solve_one_by_one(system, sides);
    finish();
    result.seconds = seconds_since(began);
    result.vectors = collect(system, rows.rows(), sides);
    petsc::check(PetscOptionsClear(nullptr), "forgetting its options");
    return result;
  };
  return {name, options, run};
}

void end_petsc() { petsc::finalize(); }

}  // namespace block_eigs::bench
