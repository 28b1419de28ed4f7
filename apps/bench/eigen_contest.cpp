#include "apps/bench/eigen_contest.hpp"

#include <algorithm>
#include <cmath>

namespace block_eigs::bench {

namespace {

/// ||A v - lambda v|| / (|lambda| ||v||) of every pair.
std::vector<double> relative_residuals(BlockSpace<double>& space, LinearOperator<double>& a, const EigenRun& run) {
  const auto pairs = static_cast<LocalIndex>(run.eigenvalues.size());
  DenseBlock<double> v = space.make_block(pairs);
  DenseBlock<double> av = space.make_block(pairs);
  v.from_host(run.vectors.data());
  a.apply(v.view(), av.view());
  const std::vector<double> norms = space.column_norms(v.view());
  std::vector<double> residuals = space.residual(av.view(), v.view(), run.eigenvalues, av.view());
  for (std::size_t j = 0; j < residuals.size(); ++j) residuals[j] /= std::abs(run.eigenvalues[j]) * norms[j];
  return residuals;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

}  // namespace

std::vector<EigenScore> hold_contest(BlockSpace<double>& space, LinearOperator<double>& a, double tolerance,
                                     int repeats, const std::vector<EigenContender>& contenders) {
  std::vector<EigenScore> scores;
  std::vector<std::vector<double>> seconds(contenders.size());
  scores.reserve(contenders.size());
  for (const EigenContender& contender : contenders)
    scores.push_back({.name = contender.name, .options = contender.options});
  for (int repeat = -1; repeat < repeats; ++repeat) {
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      space.comm().barrier();
      const EigenRun run = contenders[c].run();
      if (repeat < 0) {
        scores[c].iterations = run.iterations;
        const std::vector<double> residuals = relative_residuals(space, a, run);
        scores[c].worst_residual = residuals.empty() ? 0.0 : *std::max_element(residuals.begin(), residuals.end());
        scores[c].converged = static_cast<int>(std::count_if(
            residuals.begin(), residuals.end(), [&](double r) { return r <= tolerance * (1.0 + 1e-6); }));
        continue;
      }
      scores[c].setup_seconds = space.comm().max(run.setup_seconds);
      seconds[c].push_back(space.comm().max(run.seconds));
    }
  }
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    scores[c].median_seconds = median(seconds[c]);
    scores[c].fastest = *std::min_element(seconds[c].begin(), seconds[c].end());
    scores[c].slowest = *std::max_element(seconds[c].begin(), seconds[c].end());
  }
  return scores;
}

}  // namespace block_eigs::bench
