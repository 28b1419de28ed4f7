#include "apps/journey/eigensolve.hpp"

#include <type_traits>
#include <utility>

#include "apps/input/stopwatch.hpp"
#include "apps/journey/proof.hpp"
#include "apps/journey/stages.hpp"
#include "apps/journey/verify.hpp"
#include "solver/lobpcg/lobpcg_mixed.hpp"

namespace block_eigs {

namespace {

/// What iterations begin with: vectors of a file, or of coarse levels where the preconditioner has some.
template <class T>
DenseBlock<T> start_block(const Preconditioner<T>& preconditioner, const EigensolverConfig& config,
                          DenseBlock<T> initial) {
  if (!starts_from_coarse_levels(preconditioner, config)) return initial;
  const LobpcgOptions& options = config.options;
  return preconditioner.start_vectors(start_columns(options.pairs, options.block_size), options.seed);
}

template <class T>
EigenResult<T> iterate(BlockSpace<T>& space, Problem<T>& problem, const Operators<T>& operators,
                       const DenseBlock<T>& constraints, DenseBlock<T> initial, const LobpcgOptions& options,
                       const Observer& observer) {
  const DenseBlock<T>* orthogonal_to = constraints.cols() > 0 ? &constraints : nullptr;
  LinearOperator<T>* preconditioner = operators.preconditioner.operation.get();
  if constexpr (std::is_same_v<T, double>) {
    if (operators.in_float.a != nullptr) {
      return lobpcg_mixed(space, *problem.a, preconditioner, operators.in_float, orthogonal_to, std::move(initial),
                          options, observer);
    }
  }
  return lobpcg<T>(space, *problem.a, problem.b.get(), preconditioner, orthogonal_to, std::move(initial), options,
                   observer);
}

}  // namespace

template <class T>
bool begins_in_float(const RunConfig& config) {
  return std::is_same_v<T, double> && config.eigensolver.inner_precision == Precision::float32 && !config.mass;
}

template <class T>
EigenResult<T> eigensolve(BlockSpace<T>& space, Problem<T>& problem, Operators<T>& operators,
                          const Sources& sources, StartVectors<T> start, const RunConfig& config,
                          const Observer& observer, Proof& proof) {
  const Stopwatch setup;
  DenseBlock<T> initial = start_block(operators.preconditioner, config.eigensolver, std::move(start.initial));
  const double setup_seconds = setup.seconds();
  EigenResult<T> result = iterate(space, problem, operators, start.constraints, std::move(initial),
                                  config.eigensolver.options, observer);
  result.setup_seconds += setup_seconds;
  const auto again = [&](DenseBlock<T> vectors, const LobpcgOptions& options) {
    return iterate(space, problem, operators, start.constraints, std::move(vectors), options, observer);
  };
  proof = prove<T>({space, problem, operators, sources, start.constraints, config.eigensolver, again}, result);
  return result;
}

template <class T>
Verification verify_result(BlockSpace<T>& space, Problem<T>& problem, const Sources& sources,
                           const RunConfig& config, EigenResult<T>& result) {
  const LobpcgOptions& options = config.eigensolver.options;
  Verification verified;
  if constexpr (std::is_same_v<T, double>) {
    verified = verify(problem, result.eigenvectors, result.eigenvalues, false, options);
  } else {
    Problem<double> exact = read_exactly(problem, sources, config);
    verified = verify(exact, result.eigenvectors, result.eigenvalues, true, options);
  }
  sort_pairs(space, verified, result.eigenvectors, options.which);
  return verified;
}

template bool begins_in_float<float>(const RunConfig&);
template bool begins_in_float<double>(const RunConfig&);
template EigenResult<float> eigensolve(BlockSpace<float>&, Problem<float>&, Operators<float>&, const Sources&,
                                       StartVectors<float>, const RunConfig&, const Observer&, Proof&);
template EigenResult<double> eigensolve(BlockSpace<double>&, Problem<double>&, Operators<double>&, const Sources&,
                                        StartVectors<double>, const RunConfig&, const Observer&, Proof&);
template Verification verify_result(BlockSpace<float>&, Problem<float>&, const Sources&, const RunConfig&,
                                    EigenResult<float>&);
template Verification verify_result(BlockSpace<double>&, Problem<double>&, const Sources&, const RunConfig&,
                                    EigenResult<double>&);

}  // namespace block_eigs
