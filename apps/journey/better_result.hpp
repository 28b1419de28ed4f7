#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "solver/lobpcg/lobpcg.hpp"

// Which of two ways has come farther.
namespace block_eigs {

/// Whether these pairs have come farther than those of another way, and are no others that lie farther from the
/// wanted end: Ritz values are no nearer to it than eigenvalues.
template <class T>
bool is_ahead(const EigenResult<T>& one, const EigenResult<T>& other, Which which) {
  if (one.eigenvectors.cols() == 0 || one.eigenvectors.cols() < other.eigenvectors.cols()) return false;
  const auto sum = [](const std::vector<double>& of_pairs) {
    return std::accumulate(of_pairs.begin(), of_pairs.end(), 0.0);
  };
  const auto behind = [&sum](const EigenResult<T>& result) {
    const auto open = std::count(result.outcomes.begin(), result.outcomes.end(), Outcome::not_converged);
    return std::pair{open, sum(result.residual_norms)};
  };
  if (!(behind(one) < behind(other))) return false;
  const double farther = sum(one.eigenvalues) - sum(other.eigenvalues);
  const double known = sum(one.residual_norms) + sum(other.residual_norms);
  return !((which == Which::largest ? -farther : farther) > known);
}

/// Pairs of `better`, which go along, in place of those of `result`, whose history and times stay.
template <class T>
void take_pairs(EigenResult<T>& better, EigenResult<T>& result) {
  result.eigenvalues = std::move(better.eigenvalues);
  result.residual_norms = std::move(better.residual_norms);
  result.error_bounds = std::move(better.error_bounds);
  result.outcomes = std::move(better.outcomes);
  result.eigenvectors = std::move(better.eigenvectors);
}

}  // namespace block_eigs
