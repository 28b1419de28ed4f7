#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "solver/lobpcg/lobpcg_run.hpp"
#include "solver/space/orthonormalize.hpp"
#include "spmm/error.hpp"

// What an iteration does: W from the residuals, and a Rayleigh-Ritz step on [X P W].
namespace block_eigs {

namespace {

/// Coefficients of w - c (c^T B w) in terms of [c w].
SmallMatrix projection(const SmallMatrix& products) {
  SmallMatrix coefficients(products.rows() + products.cols(), products.cols());
  for (int j = 0; j < products.cols(); ++j) {
    for (int i = 0; i < products.rows(); ++i) coefficients(i, j) = -products(i, j);
    coefficients(products.rows() + j, j) = 1.0;
  }
  return coefficients;
}

/// The rows and columns of W, last in a symmetric matrix of the basis Z, from the columns of Z^T A W or Z^T B W
/// that begin at `first_column` of `products`.
void fill_w_columns(SmallMatrix& matrix, const SmallMatrix& products, int first_column) {
  const int width = products.cols() / 2;
  const int before = matrix.rows() - width;
  for (int j = 0; j < width; ++j) {
    for (int i = 0; i < matrix.rows(); ++i) {
      double value = products(i, first_column + j);
      if (i >= before) value = 0.5 * (value + products(before + j, first_column + i - before));
      matrix(i, before + j) = value;
      matrix(before + j, i) = value;
    }
  }
}

}  // namespace

/// W = M^-1 R, random columns where the window has room, orthogonal to what is kept; A W. Where the tolerance is
/// near the rounding errors, W is made orthonormal to X and P as well before it is multiplied.
template <class T>
void LobpcgRun<T>::expand(int refill) {
  const int residuals = working();
  state_.set_w_columns(residuals + refill);
  const BlockView<T> w = state_.w.view();
  if (preconditioner_ != nullptr) {
    const Profile::Scope scope(space_.profile(), Phase::preconditioner);
    preconditioner_->apply(state_.r.columns(0, residuals), w.columns(0, residuals));
  } else {
    space_.copy(state_.r.columns(0, residuals), w.columns(0, residuals));
  }
  check_preconditioner();
  if (refill > 0) {
    space_.fill_random(w.columns(residuals, refill),
                       options_.seed + 1000 + static_cast<std::uint64_t>(result_.iterations));
  }
  const bool orthonormal = acceptable_pivot() > 0.1;
  if (state_.kept_columns() > 0 && !orthonormal) {
    SmallMatrix products;
    space_.gram({state_.b_kept()}, {w}, products);
    space_.update({state_.kept(), w}, projection(products), {w});
  }
  if (b_ != nullptr) b_->apply(w, state_.bw());
  if (orthonormal) {
    state_.narrow_w(orthonormalize<T>(space_, {state_.kept(), state_.x.view(), state_.p.view()}, w, state_.bw(),
                                      {state_.b_kept(), state_.bx(), state_.bp()},
                                      Orthonormality::well_conditioned));
  }
  a_.apply(state_.w.view(), state_.aw.view());
}

/// Every iteration loses about epsilon over the smallest pivot of orthogonality in X and P, and with it that much
/// of the eigenvalues: what the tolerance leaves room for, which is nothing where residuals are rounding errors.
template <class T>
double LobpcgRun<T>::acceptable_pivot() const {
  if (near_rounding_) return 1.0;
  if (draft_) return draft_pivot;
  const double epsilon = std::numeric_limits<T>::epsilon();
  return std::max(1e3 * epsilon / std::max(options_.tolerance, epsilon), 5.0 * std::pow(epsilon, 0.25));
}

template <class T>
void LobpcgRun<T>::check_preconditioner() {
  constexpr int period = 10;
  if (preconditioner_ == nullptr || result_.iterations % period != 0) return;
  const std::vector<double> dots =
      space_.column_dots(state_.r.columns(0, working()), state_.w.columns(0, working()));
  for (std::size_t j = 0; j < dots.size(); ++j) {
    if (dots[j] > 0.0 || ritz_.residuals[j] == 0.0) continue;
    throw RunError("the preconditioner is not positive definite: r'M^-1 r = " + std::to_string(dots[j]) +
                   " for a residual of norm " + std::to_string(ritz_.residuals[j]));
  }
}

/// One step on the basis [X P W]. W is used as it is while the basis is well conditioned, which is nearly always;
/// else it is made orthonormal first, A W following by the same coefficients. False when nothing new is left in W.
template <class T>
bool LobpcgRun<T>::rayleigh_ritz(int wanted) {
  if (state_.w.cols() == 0) return false;
  const double acceptable = acceptable_pivot();
  RitzSolution solution = project(wanted, acceptable > 0.1 ? 0.0 : acceptable);
  if (solution.values.empty()) {
    const LocalIndex kept = orthonormalize<T>(
        space_, {state_.x.view(), state_.p.view()}, state_.w.view(), state_.bw(), {state_.bx(), state_.bp()},
        Orthonormality::well_conditioned, {{state_.aw.view(), {state_.ax.view(), state_.ap.view()}}});
    state_.narrow_w(kept);
    if (kept == 0) return false;
    solution = project(wanted, 0.0);
    if (solution.values.empty() && state_.p.cols() > 0) {
      state_.drop_p();
      solution = project(wanted, 0.0);
    }
    if (solution.values.empty() && draft_) return false;
    space_.comm().collectively([&] {
      if (solution.values.empty()) throw RunError("lobpcg: the basis [X W] has become linearly dependent");
    });
  }
  apply_ritz(solution);
  return true;
}

/// Z^T A Z and Z^T B Z from what is known of X and P and from one Gram product with W; the small problem's
/// solution.
template <class T>
RitzSolution LobpcgRun<T>::project(int wanted, double smallest_pivot) {
  const int nx = active();
  const int np = state_.p.cols();
  const int nw = state_.w.cols();
  const int size = nx + np + nw;
  SmallMatrix products;
  space_.gram({state_.x.view(), state_.p.view(), state_.w.view()}, {state_.aw.view(), state_.bw()}, products);
  return solve_ritz_on_root<T>(space_, [&] {
    RitzProblem problem{SmallMatrix(size, size), SmallMatrix::identity(size),     working(), wanted,
                        smallest_pivot,          options_.which == Which::largest};
    for (int j = 0; j < nx; ++j) problem.projected(j, j) = ritz_.values[static_cast<std::size_t>(j)];
    for (int j = 0; j < np; ++j) {
      for (int i = 0; i < np; ++i) problem.projected(nx + i, nx + j) = projected_p_(i, j);
    }
    fill_w_columns(problem.projected, products, 0);
    fill_w_columns(problem.gram, products, nw);
    return problem;
  });
}

/// X, P and their images by the same coefficients; new residuals.
template <class T>
void LobpcgRun<T>::apply_ritz(const RitzSolution& solution) {
  const auto nx = static_cast<LocalIndex>(solution.values.size());
  const LocalIndex np = solution.coefficients.cols() - nx;
  const ConstBlockList<T> z{state_.x.view(), state_.p.view(), state_.w.view()};
  const ConstBlockList<T> bz{state_.bx(), state_.bp(), state_.bw()};
  const ConstBlockList<T> az{state_.ax.view(), state_.ap.view(), state_.aw.view()};
  state_.set_widths(nx, np);
  space_.update(z, solution.coefficients, {state_.x.view(), state_.p.view()});
  if (b_ != nullptr) space_.update(bz, solution.coefficients, {state_.bx(), state_.bp()});
  state_.r.set_columns(nx);
  ritz_.values = solution.values;
  ritz_.residuals = space_.update_residual(az, solution.coefficients, {state_.ax.view(), state_.ap.view()},
                                           state_.bx(), ritz_.values, state_.r.view());
  projected_p_ = solution.projected_p;
  measure_norms();
}

template class LobpcgRun<float>;
template class LobpcgRun<double>;

}  // namespace block_eigs
