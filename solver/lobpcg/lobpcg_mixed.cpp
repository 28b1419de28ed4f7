#include "solver/lobpcg/lobpcg_mixed.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "solver/lobpcg/dense_eigensolver.hpp"
#include "solver/lobpcg/lobpcg_checkpoint.hpp"
#include "solver/lobpcg/lobpcg_phases.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

DenseBlock<float> rounded(BlockSpace<double>& space, BlockSpace<float>& float_space,
                          const DenseBlock<double>& block) {
  DenseBlock<float> result = float_space.make_block(block.cols());
  if (block.cols() > 0) space.kernels().convert(block.view(), {}, result.view());
  return result;
}

/// In a block of `width` columns or more, which becomes the memory of those who go on.
LeadingColumns<double> widened(BlockSpace<double>& space, BlockSpace<float>& float_space,
                               ConstBlockView<float> view, LocalIndex width) {
  LeadingColumns<double> result{space.make_block(std::max(width, view.cols)), view.cols};
  if (view.cols > 0) float_space.kernels().convert(view, {}, result.block.columns(0, view.cols));
  return result;
}

/// Nothing where float is not up to it; the errors of lobpcg are those of the phase in double.
std::optional<UnverifiedVectors<double>> iterate_in_float(const LobpcgRun<double>& run,
                                                          const FloatOperators& in_float,
                                                          const DenseBlock<double>* constraints,
                                                          const DenseBlock<double>& initial) {
  BlockSpace<double>& space = run.problem.space;
  try {
    BlockSpace<float> float_space = block_eigs::in_float(space);
    DenseBlock<float> float_constraints;
    if (constraints != nullptr) float_constraints = rounded(space, float_space, *constraints);
    const EigenProblem<float> problem{float_space, *in_float.a, nullptr, in_float.preconditioner};
    const LobpcgRun<float> float_run{problem,     run.options,         LobpcgPhase::low_precision(),
                                     run.budget,  run.observer,        run.proceed,
                                     run.history, run.first_iteration, run.checkpoint};
    const LocalIndex width = block_width(run.options);
    const UnverifiedVectors<float> found = iterate_unverified(
        float_run, constraints != nullptr ? &float_constraints : nullptr, rounded(space, float_space, initial));
    return UnverifiedVectors<double>{widened(space, float_space, found.vectors.view(), width),
                                     widened(space, float_space, found.directions.view(), width), found.spectrum,
                                     found.iterated, found.setup_seconds};
  } catch (const Error& error) {
    if (dynamic_cast<const OnAllRanks*>(&error) == nullptr) throw;
    // A state that is not whole is no matter of precision.
    const bool resuming = run.checkpoint != nullptr && run.checkpoint->saved() != nullptr;
    if (resuming && error.exit_code() == ExitCode::invalid_input) throw;
    // Nobody else can make use of it.
    if (resuming) run.checkpoint->taken();
    return std::nullopt;
  }
}

}  // namespace

EigenResult<double> lobpcg_mixed(BlockSpace<double>& space, LinearOperator<double>& a,
                                 LinearOperator<double>* preconditioner, const FloatOperators& in_float,
                                 const DenseBlock<double>* constraints, DenseBlock<double> initial,
                                 const LobpcgOptions& options, const Observer& observer, const Proceed& proceed,
                                 Checkpoint* checkpoint) {
  const int width = block_width(options);
  // lobpcg says what is wrong where something is.
  const bool one_block = options.pairs >= 1 && options.pairs < width && initial.cols() <= width;
  if (in_float.a == nullptr || !one_block || !(options.tolerance >= 0.0) || options.max_iterations < 0 ||
      solves_densely(options, space.dimension(), constraints != nullptr ? constraints->cols() : 0)) {
    return lobpcg<double>(space, a, nullptr, preconditioner, constraints, std::move(initial), options, observer,
                          proceed, checkpoint);
  }
  std::vector<LobpcgIteration> history;
  Budget budget =
      resumed_budget(checkpoint, Budget(std::max(options.max_iterations - options.iterations_before, 0)), history);
  const int first = first_iteration(checkpoint, budget);
  const EigenProblem<double> problem{space, a, nullptr, preconditioner};
  const std::optional<LobpcgPhase> saved_phase = saved_phase_in_double(checkpoint);
  std::optional<UnverifiedVectors<double>> found;
  if (!saved_phase)
    found = iterate_in_float({problem, options, {}, budget, observer, proceed, history, first, checkpoint},
                             in_float, constraints, initial);
  if (found) initial = {};
  const LobpcgRun<double> run{problem,
                              options,
                              saved_phase.value_or(found ? LobpcgPhase::refinement() : LobpcgPhase{}),
                              budget,
                              observer,
                              proceed,
                              history,
                              saved_phase ? first : budget.spent(),
                              checkpoint,
                              in_float};
  EigenResult<double> result = iterate_verified(
      run, constraints, found ? std::move(*found) : UnverifiedVectors<double>{{std::move(initial)}});
  finish_densely<double>(space, a, nullptr, constraints, options, result);
  return result;
}

}  // namespace block_eigs
