#include "solver/small/refine_columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solver/small/columns.hpp"
#include "solver/small/lapack.hpp"
#include "solver/small/product_rounding.hpp"
#include "solver/small/refine_pencil.hpp"

namespace block_eigs {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// Of a value's residual; more is not asked of those that have so many digits.
constexpr double digits = 1e-9;

/// The poor ones with their neighbours, each of which is no further than a solver's errors from one of them.
std::vector<bool> with_neighbours(const std::vector<int>& poor, const std::vector<double>& values, double apart) {
  std::vector<bool> chosen(values.size(), false);
  for (const int j : poor) chosen[static_cast<std::size_t>(j)] = true;
  for (std::size_t j = 1; j < values.size(); ++j)
    if (chosen[j - 1] && values[j] - values[j - 1] <= apart) chosen[j] = true;
  for (std::size_t j = values.size(); j-- > 1;)
    if (chosen[j] && values[j] - values[j - 1] <= apart) chosen[j - 1] = true;
  return chosen;
}

/// x <- (I - v v^T) x, then orthonormal, twice. False where x has too little besides.
bool orthonormalize_beside(const SmallMatrix& v, SmallMatrix& x) {
  constexpr int passes = 2;
  for (int pass = 0; pass < passes; ++pass) {
    const SmallMatrix along = lapack::product(v, false, lapack::product(v, true, x, false), false);
    for (std::size_t k = 0; k < along.values().size(); ++k) x.values()[k] -= along.values()[k];
    SmallMatrix gram = lapack::product(x, true, x, false);
    if (!lapack::cholesky(gram)) return false;
    SmallMatrix inverse = SmallMatrix::identity(gram.rows());
    lapack::solve_lower_transposed(gram, inverse);
    x = lapack::product(x, false, inverse, false);
  }
  return true;
}

}  // namespace

std::vector<int> poor_columns(const SmallMatrix& a, const std::vector<double>& values,
                              const SmallMatrix& vectors) {
  const double norm = norm_one(a);
  const double rounding = product_rounding(a);
  const SmallMatrix images = lapack::product(a, false, vectors, false);
  std::vector<int> poor;
  for (int j = 0; j < vectors.cols(); ++j) {
    const double value = values[static_cast<std::size_t>(j)];
    double square = 0.0;
    for (int i = 0; i < a.rows(); ++i) square += std::pow((images(i, j) - value * vectors(i, j)) / norm, 2);
    if (std::sqrt(square) > std::max(rounding, digits * std::abs(value) / norm)) poor.push_back(j);
  }
  return poor;
}

void refine_columns(const SmallMatrix& a, const std::vector<double>& values, SmallMatrix& vectors, int shifts) {
  constexpr double noises = 1e3;
  const std::vector<int> poor = poor_columns(a, values, vectors);
  if (poor.empty()) return;
  const std::vector<bool> chosen = with_neighbours(poor, values, noises * epsilon * norm_one(a));
  std::vector<int> refined;
  std::vector<int> others;
  for (int j = 0; j < vectors.cols(); ++j) (chosen[static_cast<std::size_t>(j)] ? refined : others).push_back(j);
  SmallMatrix x = columns_of(vectors, refined);
  refine_pencil(a, {}, x, x.cols(), digits, shifts);
  if (!others.empty() && !orthonormalize_beside(columns_of(vectors, others), x)) return;
  for (int j = 0; j < x.cols(); ++j)
    std::copy_n(x.column(j), x.rows(), vectors.column(refined[static_cast<std::size_t>(j)]));
}

}  // namespace block_eigs
