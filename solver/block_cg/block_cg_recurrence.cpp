#include "solver/block_cg/block_cg_recurrence.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "solver/small/lapack.hpp"
#include "solver/small/rank_revealing.hpp"

namespace block_eigs {

namespace {

/// A direction may go when it holds less than this part of what every residual may have left at the end.
constexpr double negligible = 0.01;
/// The same where that part is measured in the norm of the residual itself.
constexpr double bearable = 0.05;
/// Part of a residual that may go in any case.
constexpr double rounding = 1e-12;
/// Iterations between two looks at which directions are needed.
constexpr int ranking_period = 8;
/// Asymmetry of (M^-1 Q)^T Q, in epsilon, that is no more than rounding errors of sums.
constexpr double symmetric_enough = 100.0;
/// Passes of orthonormalisation after which what is still dependent is dropped.
constexpr int most_passes = 3;

double length(const SmallMatrix& matrix, int j) {
  const double* column = matrix.column(j);
  return std::sqrt(std::inner_product(column, column + matrix.rows(), column, 0.0));
}

SmallMatrix first_columns(const SmallMatrix& matrix, int count) {
  SmallMatrix result(matrix.rows(), count);
  std::copy_n(matrix.data(), result.values().size(), result.data());
  return result;
}

SmallMatrix last_columns(const SmallMatrix& matrix, int count) {
  SmallMatrix result(matrix.rows(), count);
  std::copy_n(matrix.column(matrix.cols() - count), result.values().size(), result.data());
  return result;
}

SmallMatrix restricted(const SmallMatrix& gram, const std::vector<int>& chosen) {
  const int n = static_cast<int>(chosen.size());
  SmallMatrix result(n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i)
      result(i, j) = gram(chosen[static_cast<std::size_t>(i)], chosen[static_cast<std::size_t>(j)]);
  }
  return result;
}

void place(const SmallMatrix& part, bool transpose, SmallMatrix& whole, int row, int column) {
  for (int j = 0; j < part.cols(); ++j) {
    for (int i = 0; i < part.rows(); ++i)
      whole(row + (transpose ? j : i), column + (transpose ? i : j)) = part(i, j);
  }
}

/// matrix E^-1; zero where E is singular.
SmallMatrix divided(const SmallMatrix& matrix, const SmallMatrix& e) {
  SmallMatrix result(matrix.rows(), matrix.cols());
  for (int i = 0; i < matrix.rows(); ++i) {
    SmallMatrix transposed(e.cols(), e.rows());
    place(e, true, transposed, 0, 0);
    std::vector<double> row;
    for (int j = 0; j < matrix.cols(); ++j) row.push_back(matrix(i, j));
    if (!lapack::solve(transposed, row)) continue;
    for (int j = 0; j < matrix.cols(); ++j) result(i, j) = row[static_cast<std::size_t>(j)];
  }
  return result;
}

/// Of a Gram matrix scaled to unit diagonal.
double asymmetry(const SmallMatrix& gram) {
  double largest = 0.0;
  for (int j = 0; j < gram.cols(); ++j) {
    for (int i = 0; i < j; ++i) {
      const double size = std::sqrt(gram(i, i)) * std::sqrt(gram(j, j));
      largest = std::max(largest, std::abs(gram(i, j) - gram(j, i)) / size);
    }
  }
  return largest;
}

/// The factors of the columns `chosen` among `all`, of which the leading `count` new ones are taken.
std::pair<SmallMatrix, SmallMatrix> extended(const GramFactor& found, const std::vector<int>& chosen, int all,
                                             int count) {
  SmallMatrix transform(all, count);
  SmallMatrix factor(count, all);
  for (int i = 0; i < static_cast<int>(chosen.size()); ++i) {
    const int column = chosen[static_cast<std::size_t>(i)];
    for (int j = 0; j < count; ++j) {
      transform(column, j) = found.transform(i, j);
      factor(j, column) = found.factor(j, i);
    }
  }
  return {std::move(transform), std::move(factor)};
}

}  // namespace

void BlockCgRecurrence::restart(std::vector<Side> sides) {
  sides_ = std::move(sides);
  const int columns = static_cast<int>(sides_.size());
  components_ = SmallMatrix::identity(columns);
  factor_ = SmallMatrix::identity(columns);
  step_ = SmallMatrix();
  weights_ = SmallMatrix();
  alignment_ = SmallMatrix();
  passes_ = 0;
}

void BlockCgRecurrence::set_active(const std::vector<bool>& active) {
  for (std::size_t j = 0; j < sides_.size(); ++j) sides_[j].active = active[j];
}

SmallMatrix BlockCgRecurrence::residual_update(const SmallMatrix& products) {
  SmallMatrix curvature(products.rows(), products.rows());
  std::copy_n(products.data(), curvature.values().size(), curvature.data());
  SmallMatrix inverse = inverse_spd(curvature, epsilon_);
  if (inverse.cols() == 0) return {};
  if (alignment_.cols() > 0) inverse = lapack::product(inverse, false, alignment_, false);
  step_ = lapack::product(inverse, false, components_, false);
  for (int j = 0; j < step_.cols(); ++j) {
    if (!sides_[static_cast<std::size_t>(j)].active) std::fill_n(step_.column(j), step_.rows(), 0.0);
  }
  SmallMatrix update(transform_.rows() + inverse.rows(), inverse.cols());
  place(transform_, false, update, 0, 0);
  for (int j = 0; j < inverse.cols(); ++j) {
    for (int i = 0; i < inverse.rows(); ++i) update(transform_.rows() + i, j) = -inverse(i, j);
  }
  factor_ = SmallMatrix::identity(inverse.cols());
  passes_ = 0;
  return update;
}

/// ||r||^2 = c^T Q'^T Q' c, plus what was dropped. False where that is not finite.
bool BlockCgRecurrence::measure(const SmallMatrix& products) {
  squares_ = last_columns(products, products.rows());
  const SmallMatrix images = lapack::product(squares_, false, components_, false);
  bool finite = true;
  for (int j = 0; j < components_.cols(); ++j) {
    const double* c = components_.column(j);
    const double squared = std::inner_product(c, c + components_.rows(), images.column(j), 0.0);
    Side& side = sides_[static_cast<std::size_t>(j)];
    side.norm = std::sqrt(std::max(squared, 0.0)) + side.dropped;
    finite = finite && std::isfinite(squared);
  }
  return finite;
}

/// Columns of Q' that are more than rounding errors of what they were made from: of columns of length one, but for
/// the residuals that a round begins with. Noise is not conjugate to earlier directions, and would harm the
/// others.
std::vector<int> BlockCgRecurrence::beyond_rounding(const SmallMatrix& products) const {
  const double noise = !has_directions() && passes_ == 0 ? 0.0 : 100.0 * epsilon_;
  std::vector<int> result;
  for (int j = 0; j < products.rows(); ++j) {
    if (products(j, j) > noise * noise) result.push_back(j);
  }
  return result;
}

BlockCgRecurrence::Result BlockCgRecurrence::factorise(const SmallMatrix& products) {
  if (!measure(products)) return Result::not_finite;
  for (int j = 0; j < products.rows(); ++j) {
    for (int i = 0; i < products.rows(); ++i) {
      if (!std::isfinite(products(i, j))) return Result::inverse_not_finite;
    }
    inner_square_ = products(j, j);
    if (passes_ == 0 && inner_square_ < 0.0) return Result::not_positive;
  }
  gram_ = first_columns(products, products.rows());
  const std::vector<int> chosen = beyond_rounding(products);
  const SmallMatrix gram = restricted(products, chosen);
  // Pivots below what M^-1 lacks of symmetry are its rounding errors.
  const double errors = 10.0 * asymmetry(gram);
  // Cholesky QR loses epsilon / pivot of orthogonality.
  const GramFactor found = factor_gram(gram, std::sqrt(epsilon_));
  inner_square_ = found.smallest_pivot;
  if (inner_square_ < -std::max(0.01, errors)) return Result::not_positive;
  const int columns = static_cast<int>(chosen.size());
  const bool done = found.independent == columns || passes_ >= most_passes;
  auto [transform, factor] = extended(found, chosen, products.rows(), done ? found.independent : columns);
  components_ = lapack::product(factor, false, components_, false);
  factor_ = lapack::product(factor, false, factor_, false);
  if (done) {
    transform_ = std::move(transform);
    return Result::orthonormal;
  }
  rebasing_ = std::move(transform);
  ++passes_;
  return Result::nearly_dependent;
}

/// Columns of C of right-hand sides at work, as long as their residuals in units of what these may have left.
SmallMatrix BlockCgRecurrence::weighted_components() const {
  SmallMatrix result(components_.rows(), components_.cols());
  for (int j = 0; j < result.cols(); ++j) {
    const Side& side = sides_[static_cast<std::size_t>(j)];
    const double size = length(components_, j);
    if (size == 0.0 || !side.active) continue;
    const double weight = side.norm / std::max(side.limit, side.floor) / size;
    for (int k = 0; k < result.rows(); ++k) result(k, j) = weight * components_(k, j);
  }
  return result;
}

void BlockCgRecurrence::narrow() {
  bool left = !has_directions();
  for (Side& side : sides_) {
    if (!side.active || side.norm > side.limit) continue;
    side.active = false;
    left = true;
  }
  if (!left && ++since_ranking_ < ranking_period) return;
  since_ranking_ = 0;
  const SmallMatrix rotation = leading_directions(weighted_components(), negligible);
  if (rotation.cols() == components_.rows()) return;
  const std::vector<double> lost = lost_with(rotation);
  for (std::size_t j = 0; j < lost.size(); ++j) {
    const Side& side = sides_[j];
    if (lost[j] > std::max(bearable * std::max(side.limit, side.floor), rounding * side.norm)) return;
  }
  rotate(rotation, lost);
}

/// Norms of what residuals at work have outside the span of Q rotation. In the inner product x^T M^-1 y little may
/// be lost where in x^T y it is much: where the rows of A are of very different size.
std::vector<double> BlockCgRecurrence::lost_with(const SmallMatrix& rotation) const {
  SmallMatrix rest = lapack::product(rotation, false, lapack::product(rotation, true, components_, false), false);
  for (std::size_t k = 0; k < rest.values().size(); ++k) {
    rest.values()[k] = components_.values()[k] - rest.values()[k];
  }
  const SmallMatrix along = lapack::product(transform_, false, rest, false);
  const SmallMatrix images = lapack::product(squares_, false, along, false);
  std::vector<double> lost;
  for (int j = 0; j < along.cols(); ++j) {
    const double* v = along.column(j);
    const double squared = std::inner_product(v, v + along.rows(), images.column(j), 0.0);
    lost.push_back(sides_[static_cast<std::size_t>(j)].active ? std::sqrt(std::max(squared, 0.0)) : 0.0);
  }
  return lost;
}

/// Q <- Q rotation, whose columns are orthonormal and fewer, so that residuals lose parts with norms `lost`.
void BlockCgRecurrence::rotate(const SmallMatrix& rotation, const std::vector<double>& lost) {
  components_ = lapack::product(rotation, true, components_, false);
  transform_ = lapack::product(transform_, false, rotation, false);
  factor_ = lapack::product(rotation, true, factor_, false);
  for (std::size_t j = 0; j < lost.size(); ++j) sides_[j].dropped += lost[j];
}

/// (M^-1 Q)^T Q as measured; empty where M^-1 is symmetric but for rounding errors of sums, and that is I.
SmallMatrix BlockCgRecurrence::alignment_of_basis() const {
  SmallMatrix skew(gram_.rows(), gram_.cols());
  bool symmetric = true;
  for (int j = 0; j < skew.cols(); ++j) {
    for (int i = 0; i < skew.rows(); ++i) {
      skew(i, j) = gram_(i, j) - gram_(j, i);
      symmetric = symmetric && skew(i, j) == 0.0;
    }
  }
  if (symmetric) return {};
  skew = lapack::product(transform_, true, lapack::product(skew, false, transform_, false), false);
  double off = 0.0;
  for (const double value : skew.values()) off = std::max(off, std::abs(value));
  if (!(off > symmetric_enough * epsilon_)) return {};
  return lapack::product(transform_, true, lapack::product(gram_, true, transform_, false), false);
}

/// With E = S^T Q and H = (M^-1 Q_new)^T Q_new, both I where M^-1 is symmetric: S <- M^-1 Q_new + S B with
/// B = E^-T zeta^T H^T is conjugate to S, as far as Q_new^T M^-1 Q = 0, and E_new = H, as S^T Q_new = 0.
SmallMatrix BlockCgRecurrence::direction_update() {
  const SmallMatrix basis = alignment_of_basis();
  SmallMatrix carry = factor_;  // B^T
  if (has_directions() && alignment_.cols() > 0) carry = divided(carry, alignment_);
  if (has_directions() && basis.cols() > 0) carry = lapack::product(basis, false, carry, false);
  alignment_ = basis;
  weights_ = has_directions() ? lapack::product(lapack::product(carry, false, weights_, false), false, carry, true)
                              : SmallMatrix(transform_.cols(), transform_.cols());
  for (int j = 0; j < weights_.cols(); ++j) weights_(j, j) += 1.0;
  if (!has_directions()) return transform_;
  const int sides = components_.cols();
  const int before = carry.cols();
  SmallMatrix update(sides + before + transform_.rows(), sides + transform_.cols());
  for (int j = 0; j < sides; ++j) update(j, j) = 1.0;
  place(step_, false, update, sides, 0);
  place(carry, true, update, sides, sides);
  place(transform_, false, update, sides + before, sides);
  return update;
}

}  // namespace block_eigs
