#include "apps/journey/linear_solve.hpp"

#include <type_traits>
#include <utility>

#include "apps/journey/stages.hpp"
#include "apps/journey/verify_solution.hpp"
#include "solver/block_cg/block_cg_mixed.hpp"

namespace block_eigs {

template <class T>
bool iterates_in_float(const LinearSolverConfig& config) {
  return std::is_same_v<T, double> && config.inner_precision == Precision::float32;
}

template <class T>
BlockCgResult<T> solve_linear(BlockSpace<T>& space, LinearOperator<T>& a, const Operators<T>& operators,
                              const DenseBlock<T>& f, DenseBlock<T> initial, const LinearSolverConfig& config,
                              const Observer& observer, const Proceed& wanted) {
  const BlockCgOptions options{config.tolerance, config.max_iterations, config.block_size};
  LinearOperator<T>* preconditioner = operators.preconditioner.operation.get();
  if constexpr (std::is_same_v<T, double>) {
    const FloatOperators& in_float = operators.in_float;
    if (in_float.a != nullptr) {
      return block_cg_mixed(space, a, preconditioner, *in_float.a, in_float.preconditioner, f, std::move(initial),
                            options, observer, wanted);
    }
  }
  return block_cg<T>(space, a, preconditioner, f, std::move(initial), options, observer, wanted);
}

template <class T>
SolutionCheck verify_solutions(Problem<T>& problem, const Sources& sources, const RunConfig& config,
                               RightHandSides& sides, const DenseBlock<T>& f, const BlockCgResult<T>& result) {
  if constexpr (std::is_same_v<T, double>) {
    return {result.rhs_norms, result.residual_norms, result.outcomes};
  } else {
    Problem<double> exact = read_exactly(problem, sources, config);
    return verify_solution(exact, sides, f, result, config.linear_solver.tolerance);
  }
}

template bool iterates_in_float<float>(const LinearSolverConfig&);
template BlockCgResult<float> solve_linear(BlockSpace<float>&, LinearOperator<float>&, const Operators<float>&,
                                           const DenseBlock<float>&, DenseBlock<float>, const LinearSolverConfig&,
                                           const Observer&, const Proceed&);
template SolutionCheck verify_solutions(Problem<float>&, const Sources&, const RunConfig&, RightHandSides&,
                                        const DenseBlock<float>&, const BlockCgResult<float>&);
template bool iterates_in_float<double>(const LinearSolverConfig&);
template BlockCgResult<double> solve_linear(BlockSpace<double>&, LinearOperator<double>&, const Operators<double>&,
                                            const DenseBlock<double>&, DenseBlock<double>,
                                            const LinearSolverConfig&, const Observer&, const Proceed&);
template SolutionCheck verify_solutions(Problem<double>&, const Sources&, const RunConfig&, RightHandSides&,
                                        const DenseBlock<double>&, const BlockCgResult<double>&);

}  // namespace block_eigs
