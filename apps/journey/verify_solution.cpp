#include "apps/journey/verify_solution.hpp"

#include <algorithm>
#include <limits>

#include "solver/block_cg/linear_residual_test.hpp"
#include "solver/space/block_space.hpp"

namespace block_eigs {

namespace {

/// Columns verified at a time.
constexpr LocalIndex panel = 4;
/// A residual computed anew differs from the one that the solver judged by rounding errors in A x: by so many
/// units of those of the solver's arithmetic, and never by more than this factor.
constexpr double rounding = 2.0;
constexpr double slack = 1.02;

}  // namespace

template <class T>
SolutionCheck verify_solution(Problem<double>& problem, RightHandSides& sides, const DenseBlock<T>& f,
                              const BlockCgResult<T>& result, double tolerance) {
  BlockSpace<double> space(problem.context, problem.partition);
  const auto convert = make_kernels<T>(problem.context.device);
  const double norm_a = problem.a->norm_inf();
  const double unit = rounding * std::numeric_limits<T>::epsilon();
  const LinearResidualTest test(tolerance, norm_a, std::numeric_limits<T>::epsilon());
  SolutionCheck check;
  for (LocalIndex first = 0; first < f.cols(); first += panel) {
    const LocalIndex count = std::min(panel, f.cols() - first);
    const DenseBlock<double> exact = sides.read_exactly(space, f, first, count);
    DenseBlock<double> x = space.make_block(count);
    DenseBlock<double> r = space.make_block(count);
    convert->convert(result.solution.columns(first, count), {}, x.view());
    problem.a->apply(x.view(), r.view());
    const std::vector<double> ones(static_cast<std::size_t>(count), 1.0);
    const std::vector<double> residuals = space.residual(exact.view(), r.view(), ones, r.view());
    const std::vector<double> lengths = space.column_norms(x.view());
    const std::vector<double> norms = space.column_norms(exact.view());
    for (std::size_t j = 0; j < norms.size(); ++j) {
      const Outcome known = result.outcomes[static_cast<std::size_t>(first) + j];
      const double error = unit * (norm_a * lengths[j] + norms[j]);
      const double least = std::max(residuals[j] - error, residuals[j] / slack);
      const Outcome outcome = test.judge(least, norms[j], lengths[j]);
      check.rhs_norms.push_back(norms[j]);
      check.residual_norms.push_back(residuals[j]);
      check.outcomes.push_back(known == Outcome::not_converged ? known : outcome);
    }
  }
  return check;
}

template SolutionCheck verify_solution(Problem<double>&, RightHandSides&, const DenseBlock<float>&,
                                       const BlockCgResult<float>&, double);

}  // namespace block_eigs
