#include "solver/small/refine_pencil.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "solver/small/lapack.hpp"
#include "solver/small/product_rounding.hpp"

namespace block_eigs {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// `b` without rows stands for the identity, which nothing is multiplied with.
struct Pencil {
  const SmallMatrix& a;
  const SmallMatrix& b;
  SmallMatrix a_magnitudes;
  SmallMatrix b_magnitudes;
  double rounding;  ///< of products with a or b, over the sizes of what is added up
};

SmallMatrix magnitudes(SmallMatrix matrix) {
  for (double& value : matrix.values()) value = std::abs(value);
  return matrix;
}

SmallMatrix times(const SmallMatrix& b, const SmallMatrix& x) {
  return b.rows() > 0 ? lapack::product(b, false, x, false) : x;
}

double dot(const SmallMatrix& x, const SmallMatrix& y, int j) {
  double sum = 0.0;
  for (int i = 0; i < x.rows(); ++i) sum += x(i, j) * y(i, j);
  return sum;
}

/// Where vectors stand, in ascending order of their Rayleigh quotients: a list entry each.
struct State {
  SmallMatrix vectors;
  SmallMatrix bx;
  std::vector<double> thetas;  ///< Rayleigh quotients
  std::vector<double> ratios;  ///< residuals over what rounding errors of a x and b x leave, or over what is asked
  std::vector<double> noise;   ///< of thetas

  /// Of the first so many.
  double worst(int wanted) const {
    return ratios.empty() ? 0.0 : *std::max_element(ratios.begin(), ratios.begin() + wanted);
  }
  int poor(int wanted) const {
    return static_cast<int>(
        std::count_if(ratios.begin(), ratios.begin() + wanted, [](double r) { return r > 1.0; }));
  }
};

SmallMatrix in_order(const Pencil& pencil, const SmallMatrix& vectors) {
  const SmallMatrix ax = lapack::product(pencil.a, false, vectors, false);
  const SmallMatrix bx = times(pencil.b, vectors);
  std::vector<std::pair<double, int>> quotients;
  for (int j = 0; j < vectors.cols(); ++j) quotients.emplace_back(dot(vectors, ax, j) / dot(vectors, bx, j), j);
  if (std::none_of(quotients.begin(), quotients.end(), [](const auto& one) { return std::isnan(one.first); }))
    std::sort(quotients.begin(), quotients.end());
  SmallMatrix ordered(vectors.rows(), vectors.cols());
  for (int j = 0; j < vectors.cols(); ++j)
    std::copy_n(vectors.column(quotients[static_cast<std::size_t>(j)].second), vectors.rows(), ordered.column(j));
  return ordered;
}

State measure(const Pencil& pencil, const SmallMatrix& unordered, double tolerance) {
  constexpr double agreement = 100.0;
  State state;
  SmallMatrix vectors = in_order(pencil, unordered);
  SmallMatrix residuals = lapack::product(pencil.a, false, vectors, false);
  state.bx = times(pencil.b, vectors);
  const SmallMatrix lengths = magnitudes(vectors);
  const SmallMatrix a_sizes = lapack::product(pencil.a_magnitudes, false, lengths, false);
  const SmallMatrix b_sizes = times(pencil.b_magnitudes, lengths);
  for (int j = 0; j < vectors.cols(); ++j) {
    const double theta = dot(vectors, residuals, j) / dot(vectors, state.bx, j);
    for (int i = 0; i < vectors.rows(); ++i) residuals(i, j) -= theta * state.bx(i, j);
    const double length = std::sqrt(dot(vectors, vectors, j));
    const double size =
        std::sqrt(dot(a_sizes, a_sizes, j)) + std::abs(theta) * std::sqrt(dot(b_sizes, b_sizes, j));
    const double enough = tolerance * std::abs(theta) * std::sqrt(dot(state.bx, state.bx, j));
    const double ratio = std::sqrt(dot(residuals, residuals, j)) / std::max(pencil.rounding * size, enough);
    state.thetas.push_back(theta);
    state.ratios.push_back(std::isfinite(ratio) ? ratio : std::numeric_limits<double>::infinity());
    state.noise.push_back(agreement * epsilon * size * length);
  }
  state.vectors = std::move(vectors);
  return state;
}

/// a - theta b
SmallMatrix shifted(const Pencil& pencil, double theta) {
  SmallMatrix matrix = pencil.a;
  if (pencil.b.rows() == 0) {
    for (int i = 0; i < matrix.rows(); ++i) matrix(i, i) -= theta;
  } else {
    for (std::size_t k = 0; k < matrix.values().size(); ++k) matrix.values()[k] -= theta * pencil.b.values()[k];
  }
  return matrix;
}

/// Columns [first, end) by one step of inverse iteration with one shift, a little below the value of the first:
/// with the value itself its own vector would drown those of the others. That of one alone is below where with its
/// value the matrix is singular, as matrices of integers are. False where it is below, too.
bool invert(const Pencil& pencil, const State& state, int first, int end, SmallMatrix& vectors) {
  constexpr double noises_below = 10.0;
  const auto at = static_cast<std::size_t>(first);
  const double below = state.thetas[at] - noises_below * state.noise[at];
  SmallMatrix y(vectors.rows(), end - first);
  const auto solve_with = [&](double theta) {
    SmallMatrix matrix = shifted(pencil, theta);
    std::copy_n(state.bx.column(first), y.values().size(), y.data());
    return lapack::solve(matrix, y);
  };
  if (!(end - first == 1 && solve_with(state.thetas[at])) && !solve_with(below)) return false;
  std::copy_n(y.data(), y.values().size(), vectors.column(first));
  return true;
}

/// V <- V L^-T, L L^T = V^T b V, of columns of length one, twice.
bool orthonormalize(const SmallMatrix& b, SmallMatrix& vectors) {
  constexpr int passes = 2;
  for (int pass = 0; pass < passes; ++pass) {
    const SmallMatrix images = times(b, vectors);
    for (int j = 0; j < vectors.cols(); ++j) {
      const double length = std::sqrt(dot(vectors, images, j));
      if (!(length > 0.0) || !std::isfinite(length)) return false;
      for (int i = 0; i < vectors.rows(); ++i) vectors(i, j) /= length;
    }
    SmallMatrix gram = lapack::product(vectors, true, times(b, vectors), false);
    if (!lapack::cholesky(gram)) return false;
    SmallMatrix inverse = SmallMatrix::identity(gram.rows());
    lapack::solve_lower_transposed(gram, inverse);
    vectors = lapack::product(vectors, false, inverse, false);
  }
  return true;
}

/// Vectors [first, end) that share a shift.
struct Group {
  int first;
  int end;
};

/// Those with a vector that needs it, up to `most`.
std::vector<Group> poor_groups(const State& state, int most) {
  std::vector<Group> groups;
  const auto at = [](int j) { return static_cast<std::size_t>(j); };
  const int columns = state.vectors.cols();
  for (int first = 0, end = 0; first < columns && static_cast<int>(groups.size()) < most; first = end) {
    bool poor = state.ratios[at(first)] > 1.0;
    for (end = first + 1; end < columns; ++end) {
      const double apart = std::abs(state.thetas[at(end)] - state.thetas[at(end - 1)]);
      if (apart > std::max(state.noise[at(end)], state.noise[at(end - 1)])) break;
      poor = poor || state.ratios[at(end)] > 1.0;
    }
    if (poor) groups.push_back({first, end});
  }
  return groups;
}

/// Inverse iteration for `groups`, then Rayleigh-Ritz. False where nothing came of it.
bool improve(const Pencil& pencil, const State& state, const std::vector<Group>& groups, SmallMatrix& vectors) {
  for (const Group& group : groups) {
    if (!invert(pencil, state, group.first, group.end, vectors)) return false;
  }
  if (!orthonormalize(pencil.b, vectors)) return false;
  SmallMatrix projected = lapack::product(vectors, true, lapack::product(pencil.a, false, vectors, false), false);
  lapack::symmetric_eigen(projected);
  vectors = lapack::product(vectors, false, projected, false);
  return true;
}

/// Inverse iteration for `groups` alone, and every vector made orthogonal to those of smaller |theta|: rounding
/// errors of large values, which a Rayleigh-Ritz step spreads over all vectors, stay where they are. False as for
/// improve.
bool polish(const Pencil& pencil, const State& state, const std::vector<Group>& groups, SmallMatrix& vectors) {
  for (const Group& group : groups) {
    if (!invert(pencil, state, group.first, group.end, vectors)) return false;
  }
  std::vector<int> order(state.thetas.size());
  std::iota(order.begin(), order.end(), 0);
  const auto size = [&](int j) { return std::abs(state.thetas[static_cast<std::size_t>(j)]); };
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return size(i) < size(j); });
  SmallMatrix ascending(vectors.rows(), vectors.cols());
  for (int j = 0; j < vectors.cols(); ++j)
    std::copy_n(vectors.column(order[static_cast<std::size_t>(j)]), vectors.rows(), ascending.column(j));
  vectors = std::move(ascending);
  return orthonormalize(pencil.b, vectors);
}

}  // namespace

void refine_pencil(const SmallMatrix& a, const SmallMatrix& b, SmallMatrix& vectors, int wanted, double tolerance,
                   int shifts) {
  constexpr int most_steps = 10;  // between two eigenvalues a Rayleigh quotient is in no hurry
  constexpr int patience = 3;     // steps in which what is left is not halved
  const Pencil pencil{a, b, magnitudes(a), magnitudes(b), std::max(product_rounding(a), product_rounding(b))};
  State state = measure(pencil, vectors, tolerance);
  State best = state;
  // Where shifts do not do for all, those that are poor get fewer while the worst stays about what it has been.
  double least_worst = best.worst(wanted);
  const auto is_better = [&](const State& other) {
    constexpr double as_bad = 2.0;
    const double worst = other.worst(wanted);
    const bool fewer = other.poor(wanted) < best.poor(wanted) && worst <= as_bad * least_worst;
    least_worst = std::min(least_worst, worst);
    return worst < best.worst(wanted) || fewer;
  };
  int last_gain = 0;
  double at_last_gain = best.worst(wanted);
  for (int step = 0; step < most_steps && step - last_gain < patience && best.worst(wanted) > 1.0; ++step) {
    const std::vector<Group> groups = poor_groups(state, shifts);
    if (groups.empty()) break;
    shifts -= static_cast<int>(groups.size());
    SmallMatrix next = state.vectors;
    if (!improve(pencil, state, groups, next)) break;
    state = measure(pencil, next, tolerance);
    if (2.0 * state.worst(wanted) <= at_last_gain) {
      at_last_gain = state.worst(wanted);
      last_gain = step + 1;
    }
    if (is_better(state)) best = state;
  }
  constexpr int last_steps = 2;
  for (int step = 0; step < last_steps && best.worst(wanted) > 1.0; ++step) {
    SmallMatrix next = best.vectors;
    const std::vector<Group> groups = poor_groups(best, shifts);
    if (groups.empty() || !polish(pencil, best, groups, next)) break;
    shifts -= static_cast<int>(groups.size());
    state = measure(pencil, next, tolerance);
    if (!is_better(state)) break;
    best = state;
  }
  vectors = std::move(best.vectors);
}

}  // namespace block_eigs
