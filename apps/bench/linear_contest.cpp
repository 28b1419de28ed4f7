#include "apps/bench/linear_contest.hpp"

#include <algorithm>
#include <cmath>

namespace block_eigs::bench {

namespace {

/// ||f - A x|| / ||f|| of every right-hand side.
std::vector<double> relative_residuals(BlockSpace<double>& space, LinearOperator<double>& a,
                                       const DenseBlock<double>& f, const std::vector<double>& solution) {
  DenseBlock<double> x = space.make_block(f.cols());
  DenseBlock<double> ax = space.make_block(f.cols());
  x.from_host(solution.data());
  a.apply(x.view(), ax.view());
  const std::vector<double> ones(static_cast<std::size_t>(f.cols()), 1.0);
  const std::vector<double> norms = space.column_norms(f.view());
  std::vector<double> residuals = space.residual(f.view(), ax.view(), ones, ax.view());
  for (std::size_t j = 0; j < residuals.size(); ++j) residuals[j] /= norms[j];
  return residuals;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

}  // namespace

std::vector<LinearScore> hold_contest(BlockSpace<double>& space, LinearOperator<double>& a,
                                      const DenseBlock<double>& f, double tolerance, int repeats,
                                      const std::vector<LinearContender>& contenders) {
  std::vector<LinearScore> scores;
  std::vector<std::vector<double>> seconds(contenders.size()), setups(contenders.size());
  scores.reserve(contenders.size());
  for (const LinearContender& contender : contenders) {
    scores.push_back({.name = contender.name, .options = contender.options});
  }
  for (int repeat = -1; repeat < repeats; ++repeat) {
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      space.comm().barrier();
      const LinearRun run = contenders[c].run();
      if (repeat < 0) {
        scores[c].iterations = run.iterations;
        const std::vector<double> residuals = relative_residuals(space, a, f, run.solution);
        scores[c].worst_residual = *std::max_element(residuals.begin(), residuals.end());
        scores[c].converged = static_cast<int>(std::count_if(
            residuals.begin(), residuals.end(), [&](double r) { return r <= tolerance * (1.0 + 1e-6); }));
        continue;
      }
      seconds[c].push_back(space.comm().max(run.seconds));
      setups[c].push_back(space.comm().max(run.setup_seconds));
    }
  }
  for (std::size_t c = 0; c < contenders.size() && repeats > 0; ++c) {
    scores[c].median_seconds = median(seconds[c]);
    scores[c].fastest = *std::min_element(seconds[c].begin(), seconds[c].end());
    scores[c].slowest = *std::max_element(seconds[c].begin(), seconds[c].end());
    scores[c].setup_seconds = median(setups[c]);
  }
  return scores;
}

}  // namespace block_eigs::bench
