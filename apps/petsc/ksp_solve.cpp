#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/in_memory/linear_run.hpp"
#include "apps/in_memory/mpi_runtime.hpp"
#include "apps/petsc/guarded.hpp"
#include "apps/petsc/ksp_blockcg.hpp"
#include "apps/petsc/petsc_input.hpp"
#include "io/petsc/bridge/petsc_check.hpp"
#include "io/petsc/bridge/petsc_partition.hpp"
#include "spmm/error.hpp"

namespace block_eigs::petsc {

namespace {

constexpr const char* solving = "solving by KSP of type blockcg";

/// Own rows of right-hand sides, or of a first guess, row-major.
struct Block {
  LocalIndex rows = 0;
  LocalIndex columns = 0;
  std::vector<double> values;
};

Block block_of(Vec v) {
  PetscInt rows = 0;
  check(VecGetLocalSize(v, &rows), solving);
  Block block{static_cast<LocalIndex>(rows), 1, std::vector<double>(static_cast<std::size_t>(rows))};
  take_column(v, 0, 1, block.values);
  return block;
}

Block block_of(Mat m) {
  PetscInt rows = 0;
  PetscInt columns = 0;
  PetscInt leading = 0;
  const PetscScalar* from = nullptr;
  check(MatGetLocalSize(m, &rows, nullptr), solving);
  check(MatGetSize(m, nullptr, &columns), solving);
  check(MatDenseGetLDA(m, &leading), solving);
  Block block{static_cast<LocalIndex>(rows), static_cast<LocalIndex>(columns), {}};
  block.values.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  check(MatDenseGetArrayRead(m, &from), solving);
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    for (std::ptrdiff_t j = 0; j < columns; ++j)
      block.values[static_cast<std::size_t>(i * columns + j)] = from[i + j * leading];
  }
  check(MatDenseRestoreArrayRead(m, &from), solving);
  return block;
}

void give_block(const std::vector<double>& values, const Block& shape, Mat m) {
  PetscInt leading = 0;
  PetscScalar* to = nullptr;
  check(MatDenseGetLDA(m, &leading), solving);
  check(MatDenseGetArrayWrite(m, &to), solving);
  for (std::ptrdiff_t i = 0; i < shape.rows; ++i) {
    for (std::ptrdiff_t j = 0; j < shape.columns; ++j)
      to[i + j * leading] = values[static_cast<std::size_t>(i * shape.columns + j)];
  }
  check(MatDenseRestoreArrayWrite(m, &to), solving);
}

/// ||r|| <= max(rtol ||f||, abstol) for every column; of abstol what the largest f makes of it, which is the
/// strictest.
double tolerance_of(KSP ksp, const Block& sides) {
  if (ksp->abstol <= 0.0 || sides.columns == 0) return ksp->rtol;
  std::vector<double> squares(static_cast<std::size_t>(sides.columns));
  for (std::size_t k = 0; k < sides.values.size(); ++k)
    squares[k % squares.size()] += sides.values[k] * sides.values[k];
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(ksp));
  std::vector<double> sums(squares.size());
  MPI_Reduce(squares.data(), sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, 0, comm);
  double largest = std::sqrt(*std::max_element(sums.begin(), sums.end()));
  MPI_Bcast(&largest, 1, MPI_DOUBLE, 0, comm);  // the same bits for all
  return largest > 0.0 ? std::max(ksp->rtol, ksp->abstol / largest) : ksp->rtol;
}

RunConfig config_of(KSP ksp, const MadeFor& made_for, bool entries, double tolerance) {
  const std::string text = fmt::format(
      "matrix: {{file: A}}\nright_hand_sides: {{file: F}}\ndevice: {}\nlinear_solver: {{tolerance: {}, "
      "max_iterations: {}, preconditioner: {{type: {}}}}}\n",
      made_for.device, tolerance, ksp->max_it, made_for.own_preconditioner && entries ? "auto" : "none");
  return parse_config(text, "-ksp_blockcg_options", made_for.overrides);
}

MadeFor needed(KSP ksp, Mat a, LocalIndex columns, bool own_preconditioner) {
  const auto object = reinterpret_cast<PetscObject>(a);
  MadeFor made_for;
  check(PetscObjectGetId(object, &made_for.matrix), solving);
  check(PetscObjectStateGet(object, &made_for.state), solving);
  made_for.columns = columns;
  made_for.own_preconditioner = own_preconditioner;
  made_for.device = device_for(a);
  made_for.overrides = static_cast<const KspBlockcg*>(ksp->data)->overrides;
  return made_for;
}

void tell(KSP ksp, const IterationReport& report) {
  double worst = 0.0;
  for (const double norm : report.residual_norms)
    if (std::isfinite(norm)) worst = std::max(worst, norm);
  ksp->its = report.iteration;
  ksp->rnorm = worst;
  check(KSPLogResidualHistory(ksp, worst), solving);
  check(KSPMonitor(ksp, report.iteration, worst), solving);
}

/// Whether all right-hand sides are solved.
bool take_notes(KSP ksp, const LinearAnswer<double>& answer) {
  static_cast<KspBlockcg*>(ksp->data)->take(answer);
  ksp->its = static_cast<PetscInt>(answer.run.iterations);
  const auto& norms = answer.solutions.residual_norms;
  ksp->rnorm = norms.empty() ? 0.0 : *std::max_element(norms.begin(), norms.end());
  const bool all = std::find(answer.solutions.converged.begin(), answer.solutions.converged.end(), false) ==
                   answer.solutions.converged.end();
  if (all) {
    ksp->reason = KSP_CONVERGED_RTOL;
  } else {
    ksp->reason = ksp->its >= ksp->max_it ? KSP_DIVERGED_ITS : KSP_DIVERGED_BREAKDOWN;
  }
  return all;
}

/// The system that is kept where it is the one needed, else a new one; the KSP has none until the solve is done:
/// one that ended by an error must not be used again. Collective.
std::unique_ptr<LinearSystem<double>> system_for(KSP ksp, Mat a, const MadeFor& made_for,
                                                 const RunConfig& config) {
  auto& own = *static_cast<KspBlockcg*>(ksp->data);
  std::unique_ptr<LinearSystem<double>> system = std::move(own.system);
  if (system && !system->context().comm.any(!(own.made_for == made_for))) return system;
  system.reset();  // before there is another one
  const Communicator comm = communicator_from(MPI_Comm_c2f(PetscObjectComm(reinterpret_cast<PetscObject>(ksp))));
  const Context<double> context = kept_context<double>(comm, config.device, config.halo);
  return std::make_unique<LinearSystem<double>>(context, operator_input(context, "A", a).matrix, row_partition(a));
}

LinearAnswer<double> solve_matrix(KSP ksp, Mat a, PC pc, const MadeFor& made_for, LinearRequest<double> request,
                                  LocalIndex rows, const Proceed& wanted) {
  auto& own = *static_cast<KspBlockcg*>(ksp->data);
  std::unique_ptr<LinearSystem<double>> system = system_for(ksp, a, made_for, request.config);
  if (!made_for.own_preconditioner) request.preconditioner = preconditioner_of(system->context(), pc, rows);
  LinearAnswer<double> answer = system->solve(std::move(request), wanted);
  if (take_notes(ksp, answer)) {
    own.system = std::move(system);
    own.made_for = made_for;
  }
  return answer;
}

LinearAnswer<double> solve_operator(KSP ksp, Mat a, PC pc, bool own_preconditioner, LinearRequest<double> request,
                                    LocalIndex rows, const Proceed& wanted) {
  const Communicator comm = communicator_from(MPI_Comm_c2f(PetscObjectComm(reinterpret_cast<PetscObject>(ksp))));
  const Context<double> context = kept_context<double>(comm, request.config.device, request.config.halo);
  LinearInput<double> input;
  input.config = std::move(request.config);
  input.partition = row_partition(a);
  input.a = operator_input(context, "A", a);
  if (!own_preconditioner) input.preconditioner = preconditioner_of(context, pc, rows);
  LinearAnswer<double> answer = run_linear_solver(context, std::move(input), wanted);
  take_notes(ksp, answer);
  return answer;
}

/// The vectors of the answer, as many as right-hand sides.
std::vector<double> solve(KSP ksp, Block sides, Block guess) {
  const ThreadsOfPetsc threads;
  start_mpi();
  Mat a = nullptr;
  check(KSPGetOperators(ksp, &a, nullptr), solving);
  PC pc = nullptr;
  check(KSPGetPC(ksp, &pc), solving);
  const bool own_preconditioner = left_to_us(pc);
  const bool entries = has_entries(a);
  const LocalIndex rows = sides.rows;
  const MadeFor made_for = needed(ksp, a, sides.columns, own_preconditioner);
  LinearRequest<double> request{config_of(ksp, made_for, entries, tolerance_of(ksp, sides))};
  request.config.right_hand_sides->input =
      block_input("the right-hand sides", rows, sides.columns, std::move(sides.values));
  if (guess.columns > 0)
    request.config.linear_solver.initial =
        block_input("the initial guess", rows, guess.columns, std::move(guess.values));
  ksp->its = 0;
  const Proceed wanted = [&](const IterationReport& report) {
    tell(ksp, report);
    return true;
  };
  return entries ? solve_matrix(ksp, a, pc, made_for, std::move(request), rows, wanted).vectors
                 : solve_operator(ksp, a, pc, own_preconditioner, std::move(request), rows, wanted).vectors;
}

}  // namespace

PetscErrorCode solve_blockcg(KSP ksp) {
  return guarded(reinterpret_cast<PetscObject>(ksp), [&] {
    Block guess;
    if (ksp->guess_zero == PETSC_FALSE) guess = block_of(ksp->vec_sol);
    give_column(solve(ksp, block_of(ksp->vec_rhs), std::move(guess)), 0, 1, ksp->vec_sol);
  });
}

PetscErrorCode solve_blockcg_block(KSP ksp, Mat b, Mat x) {
  return guarded(reinterpret_cast<PetscObject>(ksp), [&] {
    Block guess;
    if (ksp->guess_zero == PETSC_FALSE) guess = block_of(x);
    Block sides = block_of(b);
    const Block shape{sides.rows, sides.columns, {}};
    give_block(solve(ksp, std::move(sides), std::move(guess)), shape, x);
  });
}

}  // namespace block_eigs::petsc
