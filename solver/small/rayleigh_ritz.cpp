#include "solver/small/rayleigh_ritz.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "solver/small/basis_factor.hpp"
#include "solver/small/lapack.hpp"
#include "solver/small/lowest_eigenpairs.hpp"
#include "spmm/scatter_bits.hpp"

namespace block_eigs {

namespace {

/// Coefficients of P' among the eigenvectors that X' does not take: the rows of X in them, made orthonormal.
SmallMatrix search_directions(const SmallMatrix& others, int x_columns) {
  const int rows = std::min(x_columns, others.cols());
  SmallMatrix x_rows(rows, others.cols());
  for (int j = 0; j < others.cols(); ++j) std::copy_n(others.column(j), rows, x_rows.column(j));
  return lapack::orthonormal_rows(std::move(x_rows));
}

/// factor Q T
SmallMatrix times(const SmallMatrix& q, const Tridiagonal& t, double factor) {
  SmallMatrix result(q.rows(), q.cols());
  for (int j = 0; j < q.cols(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    const double before = j > 0 ? t.beside[at - 1] : 0.0;
    const double after = j + 1 < q.cols() ? t.beside[at] : 0.0;
    for (int i = 0; i < q.rows(); ++i) {
      double value = t.diagonal[at] * q(i, j);
      if (before != 0.0) value += before * q(i, j - 1);
      if (after != 0.0) value += after * q(i, j + 1);
      result(i, j) = factor * value;
    }
  }
  return result;
}

/// Factors that bring the columns of Z to norm 1; empty where one has no norm.
std::vector<double> column_scales(const SmallMatrix& gram) {
  std::vector<double> scales;
  for (int j = 0; j < gram.cols(); ++j) {
    if (!(gram(j, j) > 0.0) || !std::isfinite(gram(j, j))) return {};
    scales.push_back(1.0 / std::sqrt(gram(j, j)));
  }
  return scales;
}

void scale_both_sides(const std::vector<double>& scales, SmallMatrix& matrix) {
  for (int j = 0; j < matrix.cols(); ++j) {
    for (int i = 0; i < matrix.rows(); ++i) {
      matrix(i, j) *= scales[static_cast<std::size_t>(i)] * scales[static_cast<std::size_t>(j)];
    }
  }
}

std::vector<double> diagonal_of(const SmallMatrix& matrix) {
  std::vector<double> diagonal;
  for (int j = 0; j < matrix.cols(); ++j) diagonal.push_back(matrix(j, j));
  return diagonal;
}

bool is_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

double largest_mean_square(const SmallMatrix& samples) {
  double most = 1.0;
  for (int i = 0; i < samples.rows(); ++i) {
    double sum = 0.0;
    for (int k = 0; k < samples.cols(); ++k) sum += samples(i, k) * samples(i, k);
    most = std::max(most, sum / samples.cols());
  }
  return most;
}

}  // namespace

SmallMatrix carried_errors(const SmallMatrix& errors, const SmallMatrix& coefficients,
                           const std::vector<double>& squared_norms, std::uint64_t seed) {
  constexpr int samples = 8;
  SmallMatrix all(coefficients.rows(), samples);
  for (int i = 0; i < all.rows(); ++i) {
    const double size = std::sqrt(squared_norms[static_cast<std::size_t>(i)]);
    const std::uint64_t signs = scatter_bits((seed << 20U) + static_cast<std::uint64_t>(i) + golden_step);
    for (int k = 0; k < samples; ++k) {
      all(i, k) = ((signs >> static_cast<unsigned>(k)) & 1U) != 0 ? size : -size;
      if (i < errors.rows()) all(i, k) += errors(i, k);
    }
  }
  return lapack::product(coefficients, true, all, false);
}

RitzSolution solve_ritz(RitzProblem problem) {
  const int size = problem.projected.rows();
  const double sign = problem.largest ? -1.0 : 1.0;
  const std::vector<double> scales = column_scales(problem.gram);
  if (scales.empty() || !is_finite(problem.gram.values()) || !is_finite(problem.projected.values())) return {};
  const std::vector<double> squared_norms = diagonal_of(problem.gram);
  scale_both_sides(scales, problem.gram);
  scale_both_sides(scales, problem.projected);
  const std::optional<BasisFactor> factor = factor_basis(problem.gram, problem.smallest_pivot);
  if (!factor) return {};
  divide_by_factor(*factor, problem.projected);
  if (!is_finite(problem.projected.values())) return {};
  for (double& value : problem.projected.values()) value *= sign;
  const int wanted = std::min(problem.wanted, size);
  const LowestEigenpairs lowest = lowest_eigenpairs(std::move(problem.projected), wanted);

  RitzSolution solution;
  const SmallMatrix q = search_directions(lowest.others, problem.x_columns);
  const SmallMatrix p = lapack::product(lowest.others, false, q, true);
  solution.p_columns = p.cols();
  solution.projected_p = lapack::product(times(q, lowest.projected, sign), false, q, true);

  solution.coefficients.resize(size, wanted + solution.p_columns);
  std::copy_n(lowest.vectors.data(), lowest.vectors.values().size(), solution.coefficients.data());
  std::copy_n(p.data(), p.values().size(), solution.coefficients.column(wanted));
  solve_transposed(*factor, solution.coefficients);
  for (int j = 0; j < solution.coefficients.cols(); ++j) {
    for (int i = 0; i < size; ++i) solution.coefficients(i, j) *= scales[static_cast<std::size_t>(i)];
  }
  for (const double value : lowest.values) solution.values.push_back(sign * value);
  solution.errors = carried_errors(problem.errors, solution.coefficients, squared_norms, problem.seed);
  solution.amplification = largest_mean_square(solution.errors);
  return solution;
}

template <class T>
RitzSolution solve_ritz_for_all(BlockSpace<T>& space, const std::function<RitzProblem()>& pose) {
  RitzSolution solution;
  SmallMatrix values;  // the Ritz values, and behind them how much rounding errors have grown
  space.solve_small(
      [&] {
        solution = solve_ritz(pose());
        values.resize(static_cast<int>(solution.values.size()) + 1, 1);
        std::copy(solution.values.begin(), solution.values.end(), values.data());
        values(values.rows() - 1, 0) = solution.amplification;
      },
      {&solution.coefficients, &values, &solution.projected_p});
  solution.values.assign(values.values().begin(), values.values().end() - 1);
  solution.amplification = values.values().back();
  solution.p_columns = solution.coefficients.cols() - static_cast<int>(solution.values.size());
  return solution;
}

template RitzSolution solve_ritz_for_all(BlockSpace<float>&, const std::function<RitzProblem()>&);
template RitzSolution solve_ritz_for_all(BlockSpace<double>&, const std::function<RitzProblem()>&);

}  // namespace block_eigs
