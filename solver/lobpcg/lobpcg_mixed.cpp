#include "solver/lobpcg/lobpcg_mixed.hpp"

#include <optional>
#include <utility>

#include "solver/lobpcg/lobpcg_run.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// What float came to, in double.
struct Draft {
  DenseBlock<double> vectors;
  DenseBlock<double> directions;
  EigenResult<float> run;
};

DenseBlock<float> rounded(BlockSpace<double>& space, BlockSpace<float>& float_space,
                          const DenseBlock<double>& block) {
  DenseBlock<float> result = float_space.make_block(block.cols());
  if (block.cols() > 0) space.kernels().convert(block.view(), {}, result.view());
  return result;
}

DenseBlock<double> widened(BlockSpace<double>& space, BlockSpace<float>& float_space, ConstBlockView<float> view) {
  DenseBlock<double> result = space.make_block(view.cols);
  if (view.cols > 0) float_space.kernels().convert(view, {}, result.view());
  return result;
}

/// Nothing where float is not up to it; the errors of lobpcg are those of the run in double.
std::optional<Draft> draft(BlockSpace<double>& space, const FloatOperators& in_float,
                           const DenseBlock<double>* constraints, const DenseBlock<double>& initial,
                           const LobpcgOptions& options, const Observer& observer) {
  try {
    BlockSpace<float> float_space(with_precision<float>(space.context()), space.partition());
    DenseBlock<float> float_constraints;
    if (constraints != nullptr) float_constraints = rounded(space, float_space, *constraints);
    LobpcgRun<float> run(float_space, *in_float.a, nullptr, in_float.preconditioner, options, observer,
                         block_width(options), float_constraints.cols());
    EigenResult<float> result =
        run.draft(constraints != nullptr ? &float_constraints : nullptr, rounded(space, float_space, initial));
    return Draft{widened(space, float_space, run.vectors()), widened(space, float_space, run.directions()),
                 std::move(result)};
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Adds what the draft took to the result of what came after it.
void add(const EigenResult<float>& draft, EigenResult<double>& result) {
  const double seconds = draft.setup_seconds + draft.solve_seconds;
  result.iterations += draft.iterations;
  result.solve_seconds += draft.solve_seconds + result.setup_seconds;
  result.setup_seconds = draft.setup_seconds;
  for (LobpcgIteration& entry : result.history) entry.seconds += seconds;
  result.history.insert(result.history.begin(), draft.history.begin(), draft.history.end());
}

}  // namespace

EigenResult<double> lobpcg_mixed(BlockSpace<double>& space, LinearOperator<double>& a,
                                 LinearOperator<double>* preconditioner, const FloatOperators& in_float,
                                 const DenseBlock<double>* constraints, DenseBlock<double> initial,
                                 const LobpcgOptions& options, const Observer& observer) {
  const int width = block_width(options);
  const int constraint_columns = constraints != nullptr ? constraints->cols() : 0;
  // lobpcg says what is wrong where something is.
  const bool one_block = options.pairs >= 1 && options.pairs <= width && initial.cols() <= width;
  std::optional<Draft> first;
  if (in_float.a != nullptr && one_block && options.tolerance >= 0.0 &&
      !solves_densely(options, space.dimension(), constraint_columns))
    first = draft(space, in_float, constraints, initial, options, observer);
  if (!first) {
    return lobpcg<double>(space, a, nullptr, preconditioner, constraints, std::move(initial), options, observer);
  }
  initial = {};
  LobpcgOptions rest = options;
  rest.max_iterations = options.max_iterations - first->run.iterations;
  const Observer told =
      continued(observer, first->run.iterations, first->run.setup_seconds + first->run.solve_seconds);
  LobpcgRun<double> run(space, a, nullptr, preconditioner, rest, told, width, constraint_columns);
  EigenResult<double> result = run.run_on(constraints, std::move(first->vectors), std::move(first->directions));
  add(first->run, result);
  return result;
}

}  // namespace block_eigs
