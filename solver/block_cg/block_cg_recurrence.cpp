#include "solver/block_cg/block_cg_recurrence.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "solver/small/lapack.hpp"
#include "solver/small/rank_revealing.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// A direction may go when it holds less than this part of what every residual may have left at the end.
constexpr double negligible = 0.01;
/// Iterations between two looks at which directions are needed.
constexpr int ranking_period = 8;
/// Passes of orthonormalisation after which what is still dependent is dropped.
constexpr int most_passes = 3;

double length(const SmallMatrix& matrix, int j) {
  const double* column = matrix.column(j);
  return std::sqrt(std::inner_product(column, column + matrix.rows(), column, 0.0));
}

SmallMatrix last_columns(const SmallMatrix& matrix, int count) {
  SmallMatrix result(matrix.rows(), count);
  std::copy_n(matrix.column(matrix.cols() - count), result.values().size(), result.data());
  return result;
}

SmallMatrix restricted(const SmallMatrix& gram, const std::vector<int>& kept) {
  const int n = static_cast<int>(kept.size());
  SmallMatrix result(n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i)
      result(i, j) = gram(kept[static_cast<std::size_t>(i)], kept[static_cast<std::size_t>(j)]);
  }
  return result;
}

/// The factors of the columns `kept` among `all`, of which the leading `count` new ones are taken.
std::pair<SmallMatrix, SmallMatrix> extended(const GramFactor& of_kept, const std::vector<int>& kept, int all,
                                             int count) {
  SmallMatrix transform(all, count);
  SmallMatrix factor(count, all);
  for (int i = 0; i < static_cast<int>(kept.size()); ++i) {
    const int column = kept[static_cast<std::size_t>(i)];
    for (int j = 0; j < count; ++j) {
      transform(column, j) = of_kept.transform(i, j);
      factor(j, column) = of_kept.factor(j, i);
    }
  }
  return {std::move(transform), std::move(factor)};
}

void place(const SmallMatrix& part, bool transpose, SmallMatrix& whole, int row, int column) {
  for (int j = 0; j < part.cols(); ++j) {
    for (int i = 0; i < part.rows(); ++i)
      whole(row + (transpose ? j : i), column + (transpose ? i : j)) = part(i, j);
  }
}

}  // namespace

void BlockCgRecurrence::restart(std::vector<double> limits, std::vector<double> floors, std::vector<bool> active) {
  limits_ = std::move(limits);
  floors_ = std::move(floors);
  active_ = std::move(active);
  const int columns = static_cast<int>(limits_.size());
  dropped_.assign(limits_.size(), 0.0);
  norms_.assign(limits_.size(), 0.0);
  components_ = SmallMatrix::identity(columns);
  factor_ = SmallMatrix::identity(columns);
  fresh_ = true;
  finite_ = true;
  passes_ = 0;
}

SmallMatrix BlockCgRecurrence::residual_update(const SmallMatrix& products) {
  SmallMatrix curvature(products.rows(), products.rows());
  std::copy_n(products.data(), curvature.values().size(), curvature.data());
  const SmallMatrix inverse = inverse_spd(curvature, epsilon_);
  if (inverse.cols() == 0) return {};
  step_ = lapack::product(inverse, false, components_, false);
  for (int j = 0; j < step_.cols(); ++j) {
    if (!active_[static_cast<std::size_t>(j)]) std::fill_n(step_.column(j), step_.rows(), 0.0);
  }
  SmallMatrix update(transform_.rows() + inverse.rows(), inverse.cols());
  place(transform_, false, update, 0, 0);
  for (int j = 0; j < inverse.cols(); ++j) {
    for (int i = 0; i < inverse.rows(); ++i) update(transform_.rows() + i, j) = -inverse(i, j);
  }
  factor_ = SmallMatrix::identity(inverse.cols());
  fresh_ = false;
  passes_ = 0;
  return update;
}

/// ||r||^2 = c^T Q'^T Q' c, plus what was dropped.
void BlockCgRecurrence::measure(const SmallMatrix& products) {
  const SmallMatrix squares = last_columns(products, products.rows());
  const SmallMatrix images = lapack::product(squares, false, components_, false);
  for (int j = 0; j < components_.cols(); ++j) {
    const double* c = components_.column(j);
    const double squared = std::inner_product(c, c + components_.rows(), images.column(j), 0.0);
    const auto i = static_cast<std::size_t>(j);
    norms_[i] = std::sqrt(std::max(squared, 0.0)) + dropped_[i];
    if (!std::isfinite(squared)) finite_ = false;
  }
}

/// Columns of Q' that are more than rounding errors of what they were made from: of columns of length one, but for
/// the residuals that a round begins with. Noise is not conjugate to earlier directions, and would harm the
/// others.
std::vector<int> BlockCgRecurrence::worth_keeping(const SmallMatrix& products) const {
  const double noise = fresh_ && passes_ == 0 ? 0.0 : 100.0 * epsilon_;
  std::vector<int> kept;
  for (int j = 0; j < products.rows(); ++j) {
    if (passes_ == 0 && products(j, j) < 0.0) {
      throw RunError("the preconditioner is not positive definite: r'M^-1 r = " + std::to_string(products(j, j)) +
                     " for a combination r of residuals");
    }
    if (products(j, j) > noise * noise) kept.push_back(j);
  }
  return kept;
}

bool BlockCgRecurrence::factorise(const SmallMatrix& products) {
  measure(products);
  if (!finite_) return true;
  // Cholesky QR loses epsilon / pivot of orthogonality.
  const double accept = std::sqrt(epsilon_);
  const std::vector<int> kept = worth_keeping(products);
  const GramFactor found = factor_gram(restricted(products, kept), accept);
  if (found.smallest_pivot < -0.01) {
    throw RunError("the preconditioner is not positive definite, or not symmetric, on the space of the residuals");
  }
  const int columns = static_cast<int>(kept.size());
  const bool done = found.independent == columns || passes_ >= most_passes;
  auto [transform, factor] = extended(found, kept, products.rows(), done ? found.independent : columns);
  components_ = lapack::product(factor, false, components_, false);
  factor_ = lapack::product(factor, false, factor_, false);
  if (done) {
    transform_ = std::move(transform);
  } else {
    rebasing_ = std::move(transform);
    ++passes_;
  }
  return done;
}

/// Columns of C of right-hand sides at work, as long as their residuals in units of what these may have left.
SmallMatrix BlockCgRecurrence::weighted_components() const {
  SmallMatrix result(components_.rows(), components_.cols());
  for (int j = 0; j < result.cols(); ++j) {
    const auto i = static_cast<std::size_t>(j);
    const double size = length(components_, j);
    if (size == 0.0 || !active_[i]) continue;
    const double weight = norms_[i] / std::max(limits_[i], floors_[i]) / size;
    for (int k = 0; k < result.rows(); ++k) result(k, j) = weight * components_(k, j);
  }
  return result;
}

void BlockCgRecurrence::narrow() {
  bool left = fresh_;
  for (std::size_t j = 0; j < active_.size(); ++j) {
    if (!active_[j] || norms_[j] > limits_[j]) continue;
    active_[j] = false;
    left = true;
  }
  if (!left && ++since_ranking_ < ranking_period) return;
  since_ranking_ = 0;
  const SmallMatrix rotation = leading_directions(weighted_components(), negligible);
  if (rotation.cols() < components_.rows()) rotate(rotation);
}

/// Q <- Q rotation, whose columns are orthonormal and fewer.
void BlockCgRecurrence::rotate(const SmallMatrix& rotation) {
  const SmallMatrix before = std::move(components_);
  components_ = lapack::product(rotation, true, before, false);
  transform_ = lapack::product(transform_, false, rotation, false);
  factor_ = lapack::product(rotation, true, factor_, false);
  const SmallMatrix within = lapack::product(rotation, false, components_, false);
  for (int j = 0; j < before.cols(); ++j) {
    const double whole = length(before, j);
    double squared = 0.0;
    for (int i = 0; i < before.rows(); ++i) squared += std::pow(before(i, j) - within(i, j), 2);
    const auto column = static_cast<std::size_t>(j);
    if (whole > 0.0 && active_[column]) dropped_[column] += norms_[column] * std::sqrt(squared) / whole;
  }
}

SmallMatrix BlockCgRecurrence::direction_update() const {
  if (fresh_) return transform_;
  const int sides = components_.cols();
  const int before = factor_.cols();
  SmallMatrix update(sides + before + transform_.rows(), sides + transform_.cols());
  for (int j = 0; j < sides; ++j) update(j, j) = 1.0;
  place(step_, false, update, sides, 0);
  place(factor_, true, update, sides, sides);
  place(transform_, false, update, sides + before, sides);
  return update;
}

}  // namespace block_eigs
