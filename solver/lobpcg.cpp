#include "solver/lobpcg.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "solver/dense_eigensolver.hpp"
#include "solver/lobpcg_run.hpp"
#include "solver/orthonormalize.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Iterations between two refreshes of A X and A P, where rounding errors matter at all: two blocks in forty
/// keep the extra products at 5%.
constexpr int refresh_period = 40;

/// Poses and solves the small problem on rank 0; the solution on all ranks.
template <class T>
RitzSolution solve_on_root(BlockSpace<T>& space, const std::function<RitzProblem()>& pose) {
  RitzSolution solution;
  SmallMatrix values;
  space.on_root(
      [&] {
        solution = solve_ritz(pose());
        values.resize(static_cast<int>(solution.values.size()), 1);
        std::copy(solution.values.begin(), solution.values.end(), values.data());
      },
      {&solution.coefficients, &values, &solution.projected_p});
  solution.values.assign(values.values().begin(), values.values().end());
  solution.p_columns = solution.coefficients.cols() - values.rows();
  return solution;
}

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

template <class T>
EigenResult<T> LobpcgRun<T>::run(const DenseBlock<T>* constraints, DenseBlock<T> initial) {
  if (constraints != nullptr) take_constraints(*constraints);
  fill_start_block(initial);
  initial = {};
  start();
  filter_start_block();
  result_.setup_seconds = elapsed();
  do {
    iterate();
  } while (!conclude());
  result_.solve_seconds = elapsed() - result_.setup_seconds;
  return std::move(result_);
}

template <class T>
void LobpcgRun<T>::take_constraints(const DenseBlock<T>& constraints) {
  const BlockView<T> c = state_.kept_storage(0, constraints.cols());
  const BlockView<T> bc = state_.b_kept_storage(0, constraints.cols());
  space_.copy(constraints.view(), c);
  if (b_ != nullptr) b_->apply(c, bc);
  const LocalIndex kept = orthonormalize<T>(space_, {}, c, bc, {}, Orthonormality::to_rounding);
  state_.set_kept_columns(kept);
  constraints_ = kept;
}

/// Start vectors as given, random ones behind them.
template <class T>
void LobpcgRun<T>::fill_start_block(const DenseBlock<T>& initial) {
  state_.set_x_columns(width_);
  const BlockView<T> x = state_.x.view();
  const LocalIndex given = std::min(initial.cols(), width_);
  if (given > 0) space_.copy(initial.columns(0, given), x.columns(0, given));
  space_.fill_random(x.columns(given, width_ - given), options_.seed);
  orthonormalize_start_block(0);
}

/// Makes the columns of X from `good` on orthonormal, to those before them too; dependent ones are replaced by
/// random ones.
template <class T>
void LobpcgRun<T>::orthonormalize_start_block(LocalIndex good) {
  constexpr std::uint64_t most_attempts = 5;
  const BlockView<T> x = state_.x.view();
  for (std::uint64_t attempt = 1; good < x.cols; ++attempt) {
    const BlockView<T> fresh = x.columns(good, x.cols - good);
    const BlockView<T> b_fresh = state_.bx().columns(good, x.cols - good);
    if (b_ != nullptr) b_->apply(fresh, b_fresh);
    good += orthonormalize<T>(space_, {state_.kept(), x.columns(0, good)}, fresh, b_fresh,
                              {state_.b_kept(), ConstBlockView<T>(state_.bx()).columns(0, good)},
                              Orthonormality::to_rounding);
    space_.comm().collectively([&] {
      if (attempt > most_attempts)
        throw RunError("lobpcg: no independent start vectors left outside the constraints");
    });
    if (good < x.cols) space_.fill_random(x.columns(good, x.cols - good), options_.seed + attempt);
  }
}

/// Rayleigh-Ritz on the start block.
template <class T>
void LobpcgRun<T>::start() {
  a_.apply(state_.x.view(), state_.ax.view());
  SmallMatrix gram;
  space_.gram({state_.x.view()}, {state_.ax.view()}, gram);
  state_.drop_p();
  state_.set_w_columns(0);
  double norm_a = a_.norm_inf();
  double norm_b = b_ != nullptr ? b_->norm_inf() : 1.0;
  if (std::isnan(norm_a)) {
    norm_a = 0.0;
    for (int j = 0; j < gram.cols(); ++j) norm_a = std::max(norm_a, std::abs(gram(j, j)));
  }
  if (std::isnan(norm_b)) norm_b = 1.0;
  test_ = ResidualTest(options_, norm_a, norm_b, std::numeric_limits<T>::epsilon());
  apply_ritz(solve_on_root<T>(space_, [&] {
    return RitzProblem{gram, SmallMatrix::identity(gram.rows()), 0, gram.rows(),
                       0.0,  options_.which == Which::largest};
  }));
}

template <class T>
void LobpcgRun<T>::iterate() {
  exhausted_ = false;
  for (;;) {
    const int done = leading_done();
    if (done >= remaining() || result_.iterations >= options_.max_iterations) return;
    lock(done);
    const int refill = std::min(width_, remaining() + guard_) - active();
    state_.lock(0, active() + refill);
    expand(refill);
    const int columns = state_.w.cols();
    if (!rayleigh_ritz(active() + refill)) {
      exhausted_ = true;
      return;
    }
    ++result_.iterations;
    if (++since_refresh_ >= (near_rounding_ ? refresh_period / 8 : refresh_period) && active() > 0 &&
        test_.rounding_matters(ritz_.values.front(), ritz_.image_norms.front(), ritz_.norms.front())) {
      refresh();
    }
    record(columns);
  }
}

/// W = M^-1 R, random columns where the window has room, orthogonal to what is kept; A W. Where the tolerance is
/// near the rounding errors, W is made orthonormal to X and P as well before it is multiplied.
template <class T>
void LobpcgRun<T>::expand(int refill) {
  const int residuals = active();
  state_.set_w_columns(residuals + refill);
  const BlockView<T> w = state_.w.view();
  if (preconditioner_ != nullptr) {
    const Profile::Scope scope(space_.profile(), Phase::preconditioner);
    preconditioner_->apply(state_.r.view(), w.columns(0, residuals));
  } else {
    space_.copy(state_.r.view(), w.columns(0, residuals));
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
  const double epsilon = std::numeric_limits<T>::epsilon();
  return std::max(1e3 * epsilon / std::max(options_.tolerance, epsilon), 5.0 * std::pow(epsilon, 0.25));
}

template <class T>
void LobpcgRun<T>::check_preconditioner() {
  constexpr int period = 10;
  if (preconditioner_ == nullptr || result_.iterations % period != 0) return;
  const std::vector<double> dots = space_.column_dots(state_.r.view(), state_.w.columns(0, active()));
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
  return solve_on_root<T>(space_, [&] {
    RitzProblem problem{SmallMatrix(size, size), SmallMatrix::identity(size),     nx, wanted,
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

template <class T>
void LobpcgRun<T>::measure_norms() {
  ritz_.norms.assign(ritz_.values.size(), 1.0);
  ritz_.image_norms = ritz_.norms;
  if (b_ != nullptr) {
    ritz_.norms = space_.column_norms(state_.x.view());
    ritz_.image_norms = space_.column_norms(state_.bx());
  }
  for (std::size_t i = 0; i < ritz_.values.size(); ++i) {
    near_rounding_ = near_rounding_ || test_.near_rounding(ritz_.values[i], ritz_.residuals[i],
                                                           ritz_.image_norms[i], ritz_.norms[i]);
  }
}

/// A X and A P anew, so that rounding errors of the updates do not add up.
template <class T>
void LobpcgRun<T>::refresh() {
  a_.apply(state_.x.view(), state_.ax.view());
  if (state_.p.cols() > 0) a_.apply(state_.p.view(), state_.ap.view());
  ritz_.residuals = space_.residual(state_.ax.view(), state_.bx(), ritz_.values, state_.r.view());
  since_refresh_ = 0;
}

template <class T>
Outcome LobpcgRun<T>::judge(int j) const {
  const auto i = static_cast<std::size_t>(j);
  return test_.judge(ritz_.values[i], ritz_.residuals[i], ritz_.image_norms[i], ritz_.norms[i]);
}

template <class T>
double LobpcgRun<T>::ratio(int j) const {
  const auto i = static_cast<std::size_t>(j);
  return test_.ratio(ritz_.values[i], ritz_.residuals[i], ritz_.image_norms[i], ritz_.norms[i]);
}

template <class T>
int LobpcgRun<T>::leading_done() const {
  int count = 0;
  while (count < std::min(active(), remaining()) && judge(count) != Outcome::not_converged) ++count;
  return count;
}

template <class T>
void LobpcgRun<T>::lock(int count) {
  if (count == 0) return;
  locked_.values.insert(locked_.values.end(), ritz_.values.begin(), ritz_.values.begin() + count);
  locked_.residuals.insert(locked_.residuals.end(), ritz_.residuals.begin(), ritz_.residuals.begin() + count);
  state_.lock(count, active() - count);
  ritz_.drop_leading(count);
}

template <class T>
void LobpcgRun<T>::record(int columns) {
  const auto pairs = static_cast<std::size_t>(options_.pairs);
  LobpcgIteration entry{locked_.values, locked_.residuals, elapsed(), columns};
  const auto open = std::min<std::size_t>(ritz_.values.size(), pairs - entry.eigenvalues.size());
  entry.eigenvalues.insert(entry.eigenvalues.end(), ritz_.values.begin(),
                           ritz_.values.begin() + static_cast<int>(open));
  entry.residual_norms.insert(entry.residual_norms.end(), ritz_.residuals.begin(),
                              ritz_.residuals.begin() + static_cast<int>(open));
  entry.eigenvalues.resize(pairs, nan);
  entry.residual_norms.resize(pairs, nan);
  int converged = locked();
  double worst = 0.0;
  for (int j = 0; j < static_cast<int>(open); ++j) {
    if (judge(j) != Outcome::not_converged) ++converged;
    worst = std::max(worst, ratio(j));
  }
  result_.history.push_back(std::move(entry));
  if (!observer_) return;
  const LobpcgIteration& last = result_.history.back();
  observer_({result_.iterations, options_.pairs, converged, columns, worst, last.seconds, last.eigenvalues,
             last.residual_norms});
}

template class LobpcgRun<float>;
template class LobpcgRun<double>;

namespace {

void check_options(const LobpcgOptions& options, GlobalIndex dimension, int constraints) {
  const GlobalIndex room = dimension - constraints;
  require(options.pairs >= 1, "eigensolver.pairs must be at least 1, not " + std::to_string(options.pairs));
  require(options.pairs <= room,
          "eigensolver.pairs = " + std::to_string(options.pairs) + ", but the matrix has only " +
              std::to_string(dimension) + " rows" +
              (constraints > 0 ? " and " + std::to_string(constraints) + " constraints" : ""));
  require(options.block_size >= 0, "eigensolver.block_size must not be negative");
  require(options.tolerance >= 0.0, "eigensolver.tolerance must not be negative");
}

}  // namespace

int default_block_size(int pairs) { return pairs + std::clamp(pairs / 4, 2, 16); }

template <class T>
EigenResult<T> lobpcg(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* b,
                      LinearOperator<T>* preconditioner, const DenseBlock<T>* constraints, DenseBlock<T> initial,
                      const LobpcgOptions& options, const Observer& observer) {
  const int constraint_columns = constraints != nullptr ? constraints->cols() : 0;
  const int width = options.block_size > 0 ? options.block_size : default_block_size(options.pairs);
  space.comm().collectively([&] {
    check_options(options, space.dimension(), constraint_columns);
    require(initial.cols() <= width, "eigensolver.initial holds " + std::to_string(initial.cols()) +
                                         " vectors, more than block_size = " + std::to_string(width));
  });
  if (5 * (GlobalIndex{width} + constraint_columns) > space.dimension() ||
      5 * (GlobalIndex{options.pairs} + constraint_columns) > space.dimension()) {
    return dense_eigensolve(space, a, b, constraints, options);
  }
  LobpcgRun<T> solver(space, a, b, preconditioner, options, observer, width, constraint_columns);
  return solver.run(constraints, std::move(initial));
}

template EigenResult<float> lobpcg(BlockSpace<float>&, LinearOperator<float>&, LinearOperator<float>*,
                                   LinearOperator<float>*, const DenseBlock<float>*, DenseBlock<float>,
                                   const LobpcgOptions&, const Observer&);
template EigenResult<double> lobpcg(BlockSpace<double>&, LinearOperator<double>&, LinearOperator<double>*,
                                    LinearOperator<double>*, const DenseBlock<double>*, DenseBlock<double>,
                                    const LobpcgOptions&, const Observer&);

}  // namespace block_eigs
