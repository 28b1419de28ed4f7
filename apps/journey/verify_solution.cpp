#include "apps/journey/verify_solution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solver/block_cg/column_scaling.hpp"
#include "solver/block_cg/linear_residual_test.hpp"
#include "solver/space/block_space.hpp"
#include "solver/space/rounding_probe.hpp"

namespace block_eigs {

namespace {

/// Columns verified at a time.
constexpr LocalIndex panel = 4;
/// A residual computed anew differs from the one that the solver judged by rounding errors in A x: by so many
/// units of those of the solver's arithmetic, and never by more than this factor.
constexpr double rounding = 2.0;
constexpr double slack = 1.02;

/// Of A x, as the solver measures it: by random signs where ||A|| ||x|| says too little.
std::vector<double> product_scales(const LinearResidualTest& test, const std::vector<double>& norms,
                                   const std::vector<double>& lengths, BlockSpace<double>& space,
                                   LinearOperator<double>& a, BlockView<double> x, BlockView<double> ax) {
  std::vector<double> scales;
  bool doubtful = false;
  for (std::size_t j = 0; j < norms.size(); ++j) {
    scales.push_back(test.product_scale(lengths[j]));
    doubtful |= test.beyond_reach(norms[j], scales[j]);
  }
  if (!doubtful) return scales;
  const std::vector<double> probed = RoundingProbe<double>(space, a).product_scales(x, ax);
  for (std::size_t j = 0; j < norms.size(); ++j) scales[j] = std::min(scales[j], probed[j]);
  return scales;
}

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
    DenseBlock<double> exact = sides.read_exactly(space, f, first, count);
    const ColumnScaling scaling = column_scaling<double>(space, exact.view(), panel);
    const std::vector<double>& norms = scaling.scaled_norms;
    const std::vector<double> factors = scaling.factors(0, norms.size(), true);
    DenseBlock<double> x = space.make_block(count);
    DenseBlock<double> r = space.make_block(count);
    if (scaling.needed()) space.kernels().convert(exact.view(), factors, exact.view());
    convert->convert(result.solution.columns(first, count), factors, x.view());
    problem.a->apply(x.view(), r.view());
    const std::vector<double> ones(norms.size(), 1.0);
    const std::vector<double> residuals = space.residual(exact.view(), r.view(), ones, r.view());
    const std::vector<double> lengths = space.column_norms(x.view());
    const std::vector<double> scales = product_scales(test, norms, lengths, space, *problem.a, x.view(), r.view());
    for (std::size_t j = 0; j < norms.size(); ++j) {
      const Outcome known = result.outcomes[static_cast<std::size_t>(first) + j];
      const double error = unit * (norm_a * lengths[j] + norms[j]);
      const double least = std::max(residuals[j] - error, residuals[j] / slack);
      const Outcome outcome = test.judge(least, norms[j], scales[j]);
      check.rhs_norms.push_back(scaling.norm(j));
      check.residual_norms.push_back(std::ldexp(residuals[j], scaling.exponents[j]));
      check.outcomes.push_back(known == Outcome::not_converged ? known : outcome);
    }
  }
  return check;
}

template SolutionCheck verify_solution(Problem<double>&, RightHandSides&, const DenseBlock<float>&,
                                       const BlockCgResult<float>&, double);

}  // namespace block_eigs
