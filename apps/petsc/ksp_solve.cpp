#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "apps/in_memory/linear_run.hpp"
#include "apps/in_memory/mpi_runtime.hpp"
#include "apps/petsc/guarded.hpp"
#include "apps/petsc/ksp_blockcg.hpp"
#include "apps/petsc/petsc_blocks.hpp"
#include "apps/petsc/petsc_input.hpp"
#include "io/petsc/bridge/petsc_check.hpp"
#include "io/petsc/bridge/petsc_partition.hpp"
#include "spmm/error.hpp"

namespace block_eigs::petsc {

namespace {

constexpr const char* solving = "solving by KSP of type blockcg";

LocalIndex columns_of(Vec /*v*/) { return 1; }
LocalIndex columns_of(Mat m) {
  PetscInt columns = 0;
  check(MatGetSize(m, nullptr, &columns), solving);
  return static_cast<LocalIndex>(columns);
}

double largest_norm(Vec v) {
  PetscReal norm = 0.0;
  check(VecNorm(v, NORM_2, &norm), solving);
  return norm;
}

double largest_norm(Mat m) {
  double largest = 0.0;
  for (LocalIndex j = 0; j < columns_of(m); ++j) {
    Vec column = nullptr;
    check(MatDenseGetColumnVecRead(m, j, &column), solving);
    largest = std::max(largest, largest_norm(column));
    check(MatDenseRestoreColumnVecRead(m, j, &column), solving);
  }
  return largest;
}

void clear(Vec v) { check(VecSet(v, 0.0), solving); }
void clear(Mat m) { check(MatZeroEntries(m), solving); }

/// The largest of the right-hand sides' norms, the same bits on all ranks; 0 where no abstol asks for it.
template <class Held>
double largest_side(KSP ksp, Held sides) {
  if (ksp->abstol <= 0.0) return 0.0;
  double largest = largest_norm(sides);
  MPI_Bcast(&largest, 1, MPI_DOUBLE, 0, PetscObjectComm(reinterpret_cast<PetscObject>(ksp)));
  return largest;
}

/// ||r|| <= max(rtol ||f||, abstol) for every column; of abstol what the `largest` ||f|| makes of it, which is the
/// strictest. Ours is less than 1.
double tolerance_of(KSP ksp, double largest) {
  constexpr double most = 0.999;
  return largest > 0.0 ? std::min(std::max(ksp->rtol, ksp->abstol / largest), most) : ksp->rtol;
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

/// Whether nothing is to be done, because x = 0 is within abstol: of a right-hand side that is nearly zero.
template <class Held>
bool zero_will_do(KSP ksp, double largest, Held unknowns) {
  if (ksp->guess_zero == PETSC_FALSE || !(largest > 0.0) || largest > ksp->abstol) return false;
  clear(unknowns);
  IterationReport report;
  report.residual_norms = {&largest, 1};
  tell(ksp, report);
  ksp->reason = KSP_CONVERGED_ATOL;
  return true;
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

bool reuses_preconditioner(KSP ksp) {
  PetscBool reuse = PETSC_FALSE;
  check(KSPGetReusePreconditioner(ksp, &reuse), solving);
  return reuse == PETSC_TRUE;
}

/// Whether the preconditioner of before is one that our choice and these options stand for. That of the program
/// is PETSc's affair.
bool same_preconditioner(const MadeFor& before, const MadeFor& now) {
  return now.own_preconditioner && before.own_preconditioner && before.device == now.device &&
         before.overrides == now.overrides;
}

/// The system that is kept where it is the one needed, else a new one, which takes over the preconditioner where
/// the program wants that to be used again; the KSP has none until the solve is done: one that ended by an error
/// must not be used again. Collective.
std::unique_ptr<LinearSystem<double>> system_for(KSP ksp, Mat a, const MadeFor& made_for,
                                                 const RunConfig& config) {
  auto& own = *static_cast<KspBlockcg*>(ksp->data);
  std::unique_ptr<LinearSystem<double>> before = std::move(own.system);
  const bool reuse = reuses_preconditioner(ksp);
  const Partition partition = row_partition(a);
  if (before) {
    const Communicator& comm = before->context().comm;
    const bool same = own.made_for == made_for && (reuse || !before->has_older_preconditioner());
    if (!comm.any(!same)) return before;
    const bool carried =
        reuse && same_preconditioner(own.made_for, made_for) && before->keeps_preconditioner(partition);
    if (comm.any(!carried)) before.reset();  // before there is another one
  }
  const Context<double> context =
      before ? before->context() : context_for(reinterpret_cast<PetscObject>(ksp), config);
  return std::make_unique<LinearSystem<double>>(context, operator_input(context, "A", a).matrix, partition,
                                                std::move(before));
}

/// A system with the right-hand sides and the unknowns that PETSc has for it, a vector each or a dense matrix.
template <class Held>
struct Task {
  KSP ksp = nullptr;
  Mat a = nullptr;
  PC pc = nullptr;
  Held sides{};
  Held unknowns{};
  MadeFor made_for{};
  RunConfig config{};

  Proceed proceed() const {
    return [ksp = ksp](const IterationReport& report) {
      tell(ksp, report);
      return true;
    };
  }
  /// The config with blocks as sources in memory of the context's device.
  RunConfig with_blocks(const Context<double>& context, LocalIndex rows) const {
    RunConfig full = config;
    full.right_hand_sides->input = block_input(context, "the right-hand sides", rows, sides);
    if (ksp->guess_zero == PETSC_FALSE)
      full.linear_solver.initial = block_input(context, "the initial guess", rows, unknowns);
    return full;
  }
};

void give(const AnswerPlace& place, const LinearAnswer<double>& answer, Vec x) { place.give(answer, 0, x); }
void give(const AnswerPlace& place, const LinearAnswer<double>& answer, Mat x) { place.give(answer, x); }

template <class Held>
void solve_matrix(const Task<Held>& task, LocalIndex rows) {
  auto& own = *static_cast<KspBlockcg*>(task.ksp->data);
  std::unique_ptr<LinearSystem<double>> system = system_for(task.ksp, task.a, task.made_for, task.config);
  const Context<double>& context = system->context();
  AnswerPlace place(context);
  LinearRequest<double> request{task.with_blocks(context, rows), nullptr, place.place()};
  if (!task.made_for.own_preconditioner) request.preconditioner = preconditioner_of(context, task.pc, rows);
  const LinearAnswer<double> answer = system->solve(std::move(request), task.proceed());
  give(place, answer, task.unknowns);
  if (!take_notes(task.ksp, answer)) return;
  own.system = std::move(system);
  own.made_for = task.made_for;
}

template <class Held>
void solve_operator(const Task<Held>& task, LocalIndex rows) {
  const Context<double> context = context_for(reinterpret_cast<PetscObject>(task.ksp), task.config);
  AnswerPlace place(context);
  LinearInput<double> input;
  input.config = task.with_blocks(context, rows);
  input.place = place.place();
  input.partition = row_partition(task.a);
  input.a = operator_input(context, "A", task.a);
  if (!task.made_for.own_preconditioner) input.preconditioner = preconditioner_of(context, task.pc, rows);
  const LinearAnswer<double> answer = run_linear_solver(context, std::move(input), task.proceed());
  give(place, answer, task.unknowns);
  take_notes(task.ksp, answer);
}

template <class Held>
void solve(KSP ksp, Held sides, Held unknowns) {
  const ThreadsOfPetsc threads;
  start_mpi();
  Task<Held> task{ksp, nullptr, nullptr, sides, unknowns};
  PetscInt rows = 0;
  check(KSPGetOperators(ksp, &task.a, nullptr), solving);
  check(KSPGetPC(ksp, &task.pc), solving);
  check(MatGetLocalSize(task.a, &rows, nullptr), solving);
  const bool entries = has_entries(task.a);
  task.made_for = needed(ksp, task.a, columns_of(sides), left_to_us(task.pc));
  const double largest = largest_side(ksp, sides);
  ksp->its = 0;
  if (zero_will_do(ksp, largest, unknowns)) return;
  task.config = config_of(ksp, task.made_for, entries, tolerance_of(ksp, largest));
  if (entries) {
    solve_matrix(task, static_cast<LocalIndex>(rows));
  } else {
    solve_operator(task, static_cast<LocalIndex>(rows));
  }
}

}  // namespace

PetscErrorCode solve_blockcg(KSP ksp) {
  return guarded(reinterpret_cast<PetscObject>(ksp), [&] { solve(ksp, ksp->vec_rhs, ksp->vec_sol); });
}

PetscErrorCode solve_blockcg_block(KSP ksp, Mat b, Mat x) {
  return guarded(reinterpret_cast<PetscObject>(ksp), [&] { solve(ksp, b, x); });
}

}  // namespace block_eigs::petsc
