#include "solver/lobpcg/lobpcg_phases.hpp"

#include <string>
#include <utility>

#include "solver/lobpcg/davidson_start.hpp"
#include "solver/lobpcg/filtered_start.hpp"
#include "solver/lobpcg/final_check.hpp"
#include "solver/lobpcg/lobpcg_checkpoint.hpp"
#include "solver/lobpcg/lobpcg_start.hpp"
#include "solver/lobpcg/lobpcg_steps.hpp"

namespace block_eigs {

namespace {

/// How often the final check may find pairs above their limit.
constexpr int most_rounds = 4;
/// Of pairs that locked ones hold up; each lets at least one of them go on.
constexpr int most_rotations = 50;

/// The memory of given blocks that are as wide as those at work becomes theirs.
template <class T>
LobpcgState<T> make_state(const LobpcgRun<T>& run, const DenseBlock<T>* constraints, UnverifiedVectors<T>& given) {
  const LocalIndex width = block_width(run.options);
  LobpcgState<T> state(run.problem, run.options, width, constraints != nullptr ? constraints->cols() : 0,
                       given.vectors.take(width), given.directions.take(width));
  for (LinearOperator<T>* op : {&run.problem.a, run.problem.b, run.problem.preconditioner}) {
    if (op != nullptr) op->reserve(block_width(run.options));
  }
  state.window = make_window(run.options, starts_filtered(run.problem, run.options));
  if (constraints != nullptr) take_constraints(run, state, *constraints);
  return state;
}

/// Where the block holds all pairs and that is wanted, filters build a basis; windows are filtered one after the
/// other. What a checkpoint holds goes on as it began. Whether that has gone on until residuals have stopped
/// falling near rounding errors, in a phase that ends then.
template <class T>
bool filter_start(const LobpcgRun<T>& run, LobpcgState<T>& state, bool informed,
                  std::optional<FilterProgress> progress) {
  const bool asked = run.options.filter_basis || run.options.expects_outliers;
  const bool by_basis = progress ? state.basis.cols > 0 : asked;
  if (by_basis && !state.window.one_of_many) {
    const DavidsonEnd end = davidson_start(run, state, informed, progress);
    const bool left = end == DavidsonEnd::no_memory || end == DavidsonEnd::no_outliers;
    if (!left && end != DavidsonEnd::copies) return end == DavidsonEnd::rounding;
  }
  filtered_start(run, state, informed, progress);
  return false;
}

/// Window after window. `informed` says that the first one begins with approximate eigenvectors; or it goes on
/// where `resumption` says.
template <class T>
LoopEnd iterate_windows(const LobpcgRun<T>& run, LobpcgState<T>& state, bool informed, Resumption resumption) {
  const bool filtered = starts_filtered(run.problem, run.options);
  for (;; resumption = {}) {
    const bool past_filters = resumption.resumed && !resumption.filters;
    const bool near_rounding = filtered && !past_filters && filter_start(run, state, informed, resumption.filters);
    const LoopEnd end = near_rounding ? LoopEnd::stagnated : lobpcg_loop(run, state);
    if (end != LoopEnd::window_done || state.locked.count() >= run.options.pairs) return end;
    next_window(run, state);
    informed = false;
  }
}

Limitation limitation_of(LoopEnd end, const Budget& budget) {
  if (budget.ended()) return Limitation::stopped;
  switch (end) {
    case LoopEnd::out_of_budget:
      return Limitation::iterations;
    case LoopEnd::unsound_preconditioner:
      return Limitation::preconditioner;
    default:
      return Limitation::precision;
  }
}

template <class T>
std::string remark(const LobpcgRun<T>& run, LoopEnd end) {
  if (run.budget.ended()) return ended_on_request;
  if (end == LoopEnd::exhausted)
    return "the search space is exhausted: no new direction is left in this precision";
  if (end == LoopEnd::unsound_preconditioner)
    return "the preconditioner is not positive definite, or gives values that are not finite";
  if (end == LoopEnd::held_by_locked)
    return "what pairs that were found first have left of their residuals holds up the others";
  if (end != LoopEnd::out_of_budget)
    return "the true residuals stay above those of the recursion: the tolerance is near the limit of this "
           "precision";
  const int windows = window_count(run.options, starts_filtered(run.problem, run.options));
  return "max_iterations = " + std::to_string(run.options.max_iterations) +
         (windows > 1 ? " for each of " + std::to_string(windows) + " windows of columns" : "") + " reached";
}

template <class T>
DenseBlock<T> copy_of(BlockSpace<T>& space, ConstBlockView<T> view) {
  DenseBlock<T> block = space.make_block(view.cols);
  if (view.cols > 0) space.copy(view, block.view());
  return block;
}

}  // namespace

int window_count(const LobpcgOptions& options, bool filtered) {
  const Window window = make_window(options, filtered);
  const int pairs_each = window.width > options.pairs ? options.pairs : window.width - window.guard;
  return (options.pairs + pairs_each - 1) / pairs_each;
}

template <class T>
UnverifiedVectors<T> iterate_unverified(const LobpcgRun<T>& run, const DenseBlock<T>* constraints,
                                        DenseBlock<T> initial) {
  BlockSpace<T>& space = run.problem.space;
  UnverifiedVectors<T> given{{std::move(initial)}};
  LobpcgState<T> state = make_state(run, constraints, given);
  const Resumption resumption = resume(run, state);
  if (!resumption.resumed) {
    start_block(run, state, given.vectors, given.iterated);
    state.setup_seconds = run.budget.seconds();
  }
  given = {};
  iterate_windows(run, state, false, resumption);
  state.deflated.append(space, state.x.v(), state.x.b());
  const LocalIndex vectors = state.deflated.locked();
  // What filters have left behind X is as good a start as X. Of the last few pairs alone they are not worth the
  // step on them that the next phase would begin with.
  if (2 * state.p.cols() < vectors) state.p.narrow(0, 0);
  return {.vectors = {copy_of<T>(space, state.deflated.locked_v(0, vectors))},
          .directions = {copy_of<T>(space, state.p.v())},
          .spectrum = state.spectrum,
          .iterated = true,
          .setup_seconds = state.setup_seconds};
}

template <class T>
EigenResult<T> iterate_verified(const LobpcgRun<T>& run, const DenseBlock<T>* constraints,
                                UnverifiedVectors<T> initial) {
  LobpcgState<T> state = make_state(run, constraints, initial);
  state.spectrum = initial.spectrum;
  const Resumption resumption = resume(run, state);
  if (!resumption.resumed) {
    start_block(run, state, initial.vectors, initial.iterated);
    take_directions(run, state, initial.directions);
    state.setup_seconds = initial.setup_seconds > 0.0 ? initial.setup_seconds : run.budget.seconds();
  }
  const bool informed = initial.iterated;
  EigenResult<T> result;
  result.setup_seconds = state.setup_seconds;
  initial = {};
  LoopEnd end = iterate_windows(run, state, informed, resumption);
  int rotations = 0;
  for (int round = 1;; ++round) {
    const bool held = end == LoopEnd::held_by_locked;
    const FinalCheck check = check_locked(run, state, held);
    const bool done = check.failed.empty() && check.found(run.options.pairs) == run.options.pairs;
    if (held) ++rotations;
    const bool another = held ? rotations <= most_rotations : end == LoopEnd::window_done;
    if (done || !another || round - rotations == most_rounds) {
      if (!done) {
        result.limitation = limitation_of(end, run.budget);
        result.remark = remark(run, end);
      }
      write_result(run, state, check, result);
      break;
    }
    reopen(run, state, check);
    end = lobpcg_loop(run, state);
  }
  result.iterations = run.budget.spent();
  result.solve_seconds = run.budget.seconds() - result.setup_seconds;
  result.history = std::move(run.history);
  return result;
}

template UnverifiedVectors<float> iterate_unverified(const LobpcgRun<float>&, const DenseBlock<float>*,
                                                     DenseBlock<float>);
template UnverifiedVectors<double> iterate_unverified(const LobpcgRun<double>&, const DenseBlock<double>*,
                                                      DenseBlock<double>);
template EigenResult<float> iterate_verified(const LobpcgRun<float>&, const DenseBlock<float>*,
                                             UnverifiedVectors<float>);
template EigenResult<double> iterate_verified(const LobpcgRun<double>&, const DenseBlock<double>*,
                                              UnverifiedVectors<double>);

}  // namespace block_eigs
