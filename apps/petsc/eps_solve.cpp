#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "apps/in_memory/eigen_run.hpp"
#include "apps/in_memory/mpi_runtime.hpp"
#include "apps/petsc/eps_blockeigs.hpp"
#include "apps/petsc/guarded.hpp"
#include "apps/petsc/petsc_blocks.hpp"
#include "apps/petsc/petsc_input.hpp"
#include "apps/petsc/type_options.hpp"
#include "io/petsc/bridge/petsc_check.hpp"
#include "io/petsc/bridge/petsc_partition.hpp"

namespace block_eigs::petsc {

namespace {

constexpr const char* solving = "EPSSolve by blockeigs";

/// Columns [first, first + count) of the EPS's basis, negative ones being the deflation space.
std::vector<double> columns_of(EPS eps, PetscInt first, PetscInt count) {
  std::vector<double> values(static_cast<std::size_t>(eps->nloc) * static_cast<std::size_t>(count));
  for (PetscInt j = 0; j < count; ++j) {
    Vec v = nullptr;
    check(BVGetColumn(eps->V, first + j, &v), solving);
    take_column(v, static_cast<LocalIndex>(j), static_cast<LocalIndex>(count), values);
    check(BVRestoreColumn(eps->V, first + j, &v), solving);
  }
  return values;
}

const char* convergence_of(EPSConv convergence) {
  if (convergence == EPS_CONV_ABS) return "absolute";
  return convergence == EPS_CONV_NORM ? "norm" : "relative";
}

RunConfig config_of(EPS eps, Mat a, bool entries, bool own_preconditioner) {
  const auto& own = *static_cast<TypeOptions*>(eps->data);
  const std::string text = fmt::format(
      "matrix: {{file: A}}\n{}device: {}\neigensolver: {{pairs: {}, which: {}, tolerance: {}, convergence: {}, "
      "max_iterations: {}, preconditioner: {{type: {}}}, verify: {}{}}}\n",
      eps->isgeneralized ? "mass: {file: B}\n" : "", device_for(a), std::min(eps->nev, eps->n - eps->nds),
      eps->which == EPS_LARGEST_REAL ? "largest" : "smallest", eps->tol, convergence_of(eps->conv), eps->max_it,
      own_preconditioner && entries ? "auto" : "none", entries ? "auto" : "residuals",
      own_preconditioner && entries ? "" : ", filtered_start: false");
  RunConfig config = parse_config(text, "-eps_blockeigs_options", own.overrides);
  const auto rows = static_cast<LocalIndex>(eps->nloc);
  if (eps->nds > 0) {
    config.eigensolver.constraints = block_input("the deflation space", rows, static_cast<LocalIndex>(eps->nds),
                                                 columns_of(eps, -eps->nds, eps->nds));
  }
  if (eps->nini > 0) {
    config.eigensolver.initial =
        block_input("the initial space", rows, static_cast<LocalIndex>(eps->nini), columns_of(eps, 0, eps->nini));
  }
  return config;
}

/// Tells monitors and asks the stopping test.
bool go_on(EPS eps, const IterationReport& report, EPSConvergedReason& reason) {
  const auto shown = static_cast<PetscInt>(
      std::min<std::size_t>(report.eigenvalues.size(), static_cast<std::size_t>(std::max<PetscInt>(eps->ncv, 0))));
  for (PetscInt i = 0; i < shown; ++i) {
    const double residual = report.residual_norms[static_cast<std::size_t>(i)];
    eps->eigr[i] = report.eigenvalues[static_cast<std::size_t>(i)];
    eps->errest[i] = std::numeric_limits<PetscReal>::max();
    if (std::isfinite(residual))
      check((*eps->converged)(eps, eps->eigr[i], 0.0, residual, &eps->errest[i], eps->convergedctx), solving);
  }
  eps->its = report.iteration;
  eps->nconv = std::min<PetscInt>(report.converged, eps->ncv);
  check(EPSMonitor(eps, eps->its, eps->nconv, eps->eigr, eps->eigi, eps->errest, shown), solving);
  if (eps->stop != EPS_STOP_USER) return true;
  check((*eps->stopping)(eps, eps->its, eps->max_it, eps->nconv, eps->nev, &reason, eps->stoppingctx), solving);
  return reason == EPS_CONVERGED_ITERATING;
}

/// Puts converged pairs first, as EPS has them, in their order.
void take_answer(EPS eps, const EigenAnswer<double>& answer, const AnswerPlace& vectors) {
  PetscInt place = 0;
  const std::size_t count = answer.pairs.eigenvalues.size();
  for (const bool wanted : {true, false}) {
    for (std::size_t i = 0; i < count && place < eps->ncv; ++i) {
      if (answer.pairs.converged[i] != wanted) continue;
      eps->eigr[place] = answer.pairs.eigenvalues[i];
      eps->eigi[place] = 0.0;
      eps->errest[place] = answer.pairs.attained_tolerances[i];
      eps->perm[place] = place;
      Vec v = nullptr;
      check(BVGetColumn(eps->V, place, &v), solving);
      vectors.give(answer, static_cast<LocalIndex>(i), v);
      check(BVRestoreColumn(eps->V, place, &v), solving);
      ++place;
    }
  }
  eps->nconv =
      static_cast<PetscInt>(std::count(answer.pairs.converged.begin(), answer.pairs.converged.end(), true));
  eps->its = static_cast<PetscInt>(answer.run.iterations);
}

/// Pairs that were missed are not converged, whatever was found beside them.
EPSConvergedReason reason_of(EPS eps, const EigenAnswer<double>& answer, EPSConvergedReason stopped) {
  if (stopped != EPS_CONVERGED_ITERATING) return stopped;
  const auto wanted = std::min(eps->nev, eps->n - eps->nds);
  if (eps->nconv >= wanted && answer.pairs.proof.missing == 0) return EPS_CONVERGED_TOL;
  return eps->its >= eps->max_it ? EPS_DIVERGED_ITS : EPS_DIVERGED_BREAKDOWN;
}

void solve(EPS eps) {
  const ThreadsOfPetsc threads;
  start_mpi();
  Mat a = nullptr;
  Mat b = nullptr;
  check(STGetMatrix(eps->st, 0, &a), solving);
  if (eps->isgeneralized) check(STGetMatrix(eps->st, 1, &b), solving);
  KSP ksp = nullptr;
  PC pc = nullptr;
  check(STGetKSP(eps->st, &ksp), solving);
  check(KSPGetPC(ksp, &pc), solving);
  const bool entries = has_entries(a) && (b == nullptr || has_entries(b));
  const bool own_preconditioner = left_to_us(pc);
  EigenInput<double> input;
  input.config = config_of(eps, a, entries, own_preconditioner);
  const Context<double> context = context_for(reinterpret_cast<PetscObject>(eps), input.config);
  AnswerPlace vectors(context);
  input.place = vectors.place();
  input.partition = row_partition(a);
  input.a = operator_input(context, "A", a);
  if (b != nullptr) input.b = operator_input(context, "B", b);
  if (!own_preconditioner)
    input.preconditioner = preconditioner_of(context, ksp, static_cast<LocalIndex>(eps->nloc));
  EPSConvergedReason stopped = EPS_CONVERGED_ITERATING;
  const EigenAnswer<double> answer = run_eigensolver(
      context, std::move(input), [&](const IterationReport& report) { return go_on(eps, report, stopped); });
  take_answer(eps, answer, vectors);
  static_cast<TypeOptions*>(eps->data)->take(answer, answer.pairs.proof.statement);
  eps->reason = reason_of(eps, answer, stopped);
}

}  // namespace

PetscErrorCode solve_blockeigs(EPS eps) {
  return guarded(reinterpret_cast<PetscObject>(eps), [&] { solve(eps); });
}

}  // namespace block_eigs::petsc
