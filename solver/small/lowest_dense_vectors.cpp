#include "solver/small/lowest_dense_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "solver/small/lapack.hpp"
#include "solver/small/refine_pencil.hpp"

namespace block_eigs {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// Beyond so many rows a step of refinement for every pair takes longer than all else.
constexpr int most_rows_to_refine = 600;
/// Up to so many it may be done for all vectors that might be wanted ones.
constexpr int most_rows_to_refine_all = 100;

/// Of absolute values, which those of the rows are too.
std::vector<double> column_sums(const SmallMatrix& a) {
  std::vector<double> sums;
  for (int j = 0; j < a.cols(); ++j) {
    double sum = 0.0;
    for (int i = 0; i < a.rows(); ++i) sum += std::abs(a(i, j));
    sums.push_back(sum);
  }
  return sums;
}

double norm_of(const SmallMatrix& a) {
  double norm = 0.0;
  for (const double sum : column_sums(a)) norm = std::max(norm, sum);
  return norm;
}

/// Whether rows are of such different size that rounding errors of the largest drown the others.
bool rows_differ(const SmallMatrix& a) {
  constexpr double factor = 1e3;
  double least = std::numeric_limits<double>::infinity();
  double most = 0.0;
  for (const double sum : column_sums(a)) {
    if (sum > 0.0) least = std::min(least, sum);
    most = std::max(most, sum);
  }
  return most > factor * least;
}

/// Whether A v - lambda v is large beside both lambda and what rounding errors of A v come to, of any pair.
bool leaves_residuals(const SmallMatrix& a, const std::vector<double>& values, const SmallMatrix& vectors) {
  constexpr double rounding = 4.0 * epsilon;
  constexpr double digits = 1e-9;
  const double norm = norm_of(a);
  const SmallMatrix images = lapack::product(a, false, vectors, false);
  for (int j = 0; j < vectors.cols(); ++j) {
    const double value = values[static_cast<std::size_t>(j)];
    double square = 0.0;
    for (int i = 0; i < a.rows(); ++i) square += std::pow((images(i, j) - value * vectors(i, j)) / norm, 2);
    if (std::sqrt(square) > std::max(rounding, digits * std::abs(value) / norm)) return true;
  }
  return false;
}

SmallMatrix leading_columns(const SmallMatrix& matrix, int count) {
  SmallMatrix leading(matrix.rows(), count);
  std::copy_n(matrix.data(), leading.values().size(), leading.data());
  return leading;
}

struct Pairs {
  std::vector<double> values;
  SmallMatrix vectors;
};

Pairs by_lapack(SmallMatrix a, SmallMatrix b, int count) {
  Pairs pairs;
  pairs.values = lapack::lowest_eigenpairs(a, b, count, pairs.vectors);
  return pairs;
}

/// Relatively robust representations, which need not find all, leave more of multiple eigenvalues of zero than
/// divide and conquer does, and nothing of such a value is below its residual.
Pairs lowest_pairs(const SmallMatrix& a, const SmallMatrix& b, int count) {
  Pairs pairs = by_lapack(a, b, count);
  if (b.rows() > 0 || !leaves_residuals(a, pairs.values, pairs.vectors)) return pairs;
  SmallMatrix work = a;
  pairs.values = lapack::symmetric_eigen(work);
  pairs.values.resize(static_cast<std::size_t>(count));
  pairs.vectors = leading_columns(work, count);
  return pairs;
}

/// The lowest pairs, and those behind that rounding errors of the largest eigenvalue do not tell apart from the
/// last wanted one.
Pairs with_candidates(const SmallMatrix& a, const SmallMatrix& b, int count) {
  constexpr double roundings = 4.0;
  Pairs all = by_lapack(a, b, a.rows());
  const double largest = std::max(std::abs(all.values.front()), std::abs(all.values.back()));
  const double last = all.values[static_cast<std::size_t>(count) - 1] + roundings * a.rows() * epsilon * largest;
  const auto candidates =
      static_cast<int>(std::upper_bound(all.values.begin(), all.values.end(), last) - all.values.begin());
  return {{all.values.begin(), all.values.begin() + candidates}, leading_columns(all.vectors, candidates)};
}

/// Whether a solver's errors are more than so much of the last of these values. Of a pencil the largest eigenvalue
/// is not known before all are.
bool may_hide_values(const SmallMatrix& a, const SmallMatrix& b, const Pairs& pairs, double tolerance) {
  if (b.rows() > 0) return a.rows() <= most_rows_to_refine;
  return rows_differ(a) && a.rows() * epsilon * norm_of(a) > tolerance * std::abs(pairs.values.back());
}

/// The vectors of the smallest Rayleigh quotients in their span: a vector's error counts squared in its quotient,
/// so that this tells values apart that are epsilon times smaller than what a solver tells. So may these hide
/// others.
SmallMatrix lowest_in_span(const SmallMatrix& a, const SmallMatrix& b, const SmallMatrix& vectors, int count,
                           double tolerance) {
  const auto projected = [&](const SmallMatrix& matrix) {
    return lapack::product(vectors, true, lapack::product(matrix, false, vectors, false), false);
  };
  const SmallMatrix inner =
      lowest_dense_vectors(projected(a), b.rows() > 0 ? projected(b) : SmallMatrix(), count, tolerance);
  return lapack::product(vectors, false, inner, false);
}

}  // namespace

SmallMatrix lowest_dense_vectors(const SmallMatrix& a, const SmallMatrix& b, int count, double tolerance) {
  Pairs pairs = lowest_pairs(a, b, count);
  if (may_hide_values(a, b, pairs, tolerance)) {
    Pairs candidates = with_candidates(a, b, count);
    if (candidates.vectors.cols() > count) pairs = std::move(candidates);
    const int columns = pairs.vectors.cols();
    if (columns > count && columns < a.rows() && a.rows() > most_rows_to_refine_all)
      pairs.vectors = lowest_in_span(a, b, pairs.vectors, count, tolerance);
  }
  if (a.rows() <= most_rows_to_refine && (b.rows() > 0 || rows_differ(a)))
    refine_pencil(a, b.rows() > 0 ? b : SmallMatrix::identity(a.rows()), pairs.vectors, count);
  return leading_columns(pairs.vectors, count);
}

}  // namespace block_eigs
