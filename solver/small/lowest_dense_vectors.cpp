#include "solver/small/lowest_dense_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "solver/small/columns.hpp"
#include "solver/small/lapack.hpp"
#include "solver/small/refine_columns.hpp"
#include "solver/small/refine_pencil.hpp"

namespace block_eigs {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// Up to so many it may be done for all vectors that might be wanted ones.
constexpr int most_rows_to_refine_all = 100;

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

/// Of refinement, in little time.
int few_shifts(int rows) {
  constexpr double operations = 4e9;
  constexpr int least = 4;
  return least + static_cast<int>(std::min(operations / std::pow(rows, 3), operations));
}

/// As many as it takes where they are cheap; else the few that rigid motions need.
int most_shifts(int rows) {
  return rows <= most_rows_of_refined_pencils ? std::numeric_limits<int>::max() : few_shifts(rows);
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
/// divide and conquer does, and nothing of such a value is below its residual. What that leaves is refined, but
/// where rows differ in size: what is refined there is not known yet.
Pairs lowest_pairs(const SmallMatrix& a, const SmallMatrix& b, int count) {
  Pairs pairs = by_lapack(a, b, count);
  if (b.rows() > 0 || poor_columns(a, pairs.values, pairs.vectors).empty()) return pairs;
  SmallMatrix work = a;
  pairs.values = lapack::symmetric_eigen(work);
  pairs.values.resize(static_cast<std::size_t>(count));
  pairs.vectors = leading_columns(work, count);
  if (!rows_differ(a)) refine_columns(a, pairs.values, pairs.vectors, few_shifts(a.rows()));
  return pairs;
}

/// As many of the leading pairs.
Pairs leading(Pairs pairs, int count) {
  pairs.values.resize(static_cast<std::size_t>(count));
  if (pairs.vectors.cols() > count) pairs.vectors = leading_columns(pairs.vectors, count);
  return pairs;
}

/// Pairs whose values are less than `bound`, or not more.
int count_below(const Pairs& pairs, double bound) {
  return static_cast<int>(std::lower_bound(pairs.values.begin(), pairs.values.end(), bound) -
                          pairs.values.begin());
}
int count_up_to(const Pairs& pairs, double bound) {
  return static_cast<int>(std::upper_bound(pairs.values.begin(), pairs.values.end(), bound) -
                          pairs.values.begin());
}

/// The lowest pairs, and those behind that a solver's errors do not tell apart from the last wanted one.
struct Candidates {
  Pairs pairs;
  int certain = 0;  ///< leading ones that are wanted whatever its errors are
};

/// Of pairs as many as wanted and maybe more; all of them are computed where these do not show the end of what is
/// not told apart. Of a pencil the largest eigenvalue is not known before all are.
Candidates candidates_of(const SmallMatrix& a, const SmallMatrix& b, Pairs pairs, int count, double tolerance) {
  constexpr double roundings = 4.0;
  const int rows = a.rows();
  const bool pencil = b.rows() > 0;
  const double error = roundings * rows * epsilon;
  const auto last = [&] { return pairs.values[static_cast<std::size_t>(count) - 1]; };
  const bool hides = pencil ? rows <= most_rows_of_refined_pencils
                            : rows_differ(a) && error * norm_one(a) > tolerance * std::abs(last());
  if (!hides || count == rows) return {leading(std::move(pairs), count), count};
  double slack = error * norm_one(a);
  if (pencil || (pairs.vectors.cols() < rows && pairs.values.back() <= last() + slack))
    pairs = by_lapack(a, b, rows);
  if (pencil) slack = error * std::max(std::abs(pairs.values.front()), std::abs(pairs.values.back()));
  const int certain = count_below(pairs, last() - slack);
  const int all = std::max(count, count_up_to(pairs, last() + slack));
  return {leading(std::move(pairs), all), certain};
}

/// Whether all that is left of a in the span of `vectors`, which is `projected`, are rounding errors, of the
/// products or of entries of vectors: an eigenvalue of zero that is there many times. Each entry is held against
/// its own, for where a few large rows make zeros others may be as small as their errors.
bool is_rounding(const SmallMatrix& a, const SmallMatrix& vectors, const SmallMatrix& projected) {
  SmallMatrix sizes = a;
  SmallMatrix lengths = vectors;
  for (SmallMatrix* matrix : {&sizes, &lengths}) {
    for (double& value : matrix->values()) value = std::abs(value);
  }
  const SmallMatrix images = lapack::product(sizes, false, lengths, false);
  const SmallMatrix of_products = lapack::product(lengths, true, images, false);
  const std::vector<double> of_vectors = column_sums(images);
  for (int j = 0; j < vectors.cols(); ++j) {
    for (int i = 0; i < vectors.cols(); ++i) {
      const double rounding = a.rows() * of_products(i, j) + of_vectors[static_cast<std::size_t>(i)] +
                              of_vectors[static_cast<std::size_t>(j)];
      if (std::abs(projected(i, j)) > epsilon * rounding) return false;
    }
  }
  return true;
}

/// Those behind `first` that take part in what follows, replaced by the vectors of the smallest Rayleigh quotients
/// in their span: a vector's error counts squared in its quotient, so that this tells values apart that are
/// epsilon times smaller than what a solver tells. So may these hide others.
SmallMatrix lowest_in_span(const SmallMatrix& a, const SmallMatrix& b, const SmallMatrix& vectors, int first,
                           int count, double tolerance, double enough) {
  SmallMatrix uncertain(vectors.rows(), vectors.cols() - first);
  std::copy_n(vectors.column(first), uncertain.values().size(), uncertain.data());
  const auto projected = [&](const SmallMatrix& matrix) {
    return lapack::product(uncertain, true, lapack::product(matrix, false, uncertain, false), false);
  };
  const SmallMatrix inside = projected(a);
  if (is_rounding(a, uncertain, inside)) return leading_columns(vectors, count);
  const SmallMatrix inner =
      lowest_dense_vectors(inside, b.rows() > 0 ? projected(b) : SmallMatrix(), count - first, tolerance, enough);
  const SmallMatrix lowest = lapack::product(uncertain, false, inner, false);
  SmallMatrix result(vectors.rows(), count);
  std::copy_n(vectors.data(), static_cast<std::size_t>(first) * static_cast<std::size_t>(vectors.rows()),
              result.data());
  std::copy_n(lowest.data(), lowest.values().size(), result.column(first));
  return result;
}

}  // namespace

SmallMatrix lowest_dense_vectors(const SmallMatrix& a, const SmallMatrix& b, int count, double tolerance,
                                 double enough) {
  constexpr int few_more = 8;
  const int rows = a.rows();
  if (count == 0) return {};
  const bool graded = b.rows() == 0 && rows_differ(a);
  const int asked = graded ? std::min(rows, count + std::max(count, few_more)) : count;
  Candidates found = candidates_of(a, b, lowest_pairs(a, b, asked), count, tolerance);
  SmallMatrix vectors = std::move(found.pairs.vectors);
  if (rows > most_rows_to_refine_all && vectors.cols() > count) {
    vectors = vectors.cols() - found.certain < rows
                  ? lowest_in_span(a, b, vectors, found.certain, count, tolerance, enough)
                  : leading_columns(vectors, count);
  }
  if (b.rows() > 0 || (graded && rows <= most_rows_of_refined_pencils))
    refine_pencil(a, b, vectors, count, enough, most_shifts(rows));
  return leading_columns(vectors, count);
}

}  // namespace block_eigs
