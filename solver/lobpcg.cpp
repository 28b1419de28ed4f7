#include "solver/lobpcg.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "solver/dense_eigensolver.hpp"
#include "solver/lobpcg_state.hpp"
#include "solver/orthonormalize.hpp"
#include "solver/rayleigh_ritz.hpp"
#include "solver/residual_test.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Iterations between two refreshes of A X and A P, where rounding errors matter at all: two blocks in forty
/// keep the extra products at 5%.
constexpr int refresh_period = 40;
/// How often the final check may send pairs back to work.
constexpr int most_rounds = 4;

/// The present Ritz pairs, leading ones first.
struct RitzPairs {
  std::vector<double> values;
  std::vector<double> residuals;
  std::vector<double> image_norms;  ///< ||Bx||, 1 where B is the identity
  std::vector<double> norms;        ///< ||x||

  void append(const std::vector<double>& more_values, const std::vector<double>& more_residuals,
              const std::vector<double>& more_image_norms, const std::vector<double>& more_norms) {
    values.insert(values.end(), more_values.begin(), more_values.end());
    residuals.insert(residuals.end(), more_residuals.begin(), more_residuals.end());
    image_norms.insert(image_norms.end(), more_image_norms.begin(), more_image_norms.end());
    norms.insert(norms.end(), more_norms.begin(), more_norms.end());
  }
  RitzPairs in_order(const std::vector<int>& order) const {
    RitzPairs sorted;
    for (const int i : order) {
      const auto j = static_cast<std::size_t>(i);
      sorted.append({values[j]}, {residuals[j]}, {image_norms[j]}, {norms[j]});
    }
    return sorted;
  }
  void drop_leading(int count) {
    for (auto* list : {&values, &residuals, &image_norms, &norms}) list->erase(list->begin(), list->begin() + count);
  }
};

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

template <class T>
class Lobpcg {
 public:
  Lobpcg(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* b, LinearOperator<T>* preconditioner,
         const LobpcgOptions& options, const Observer& observer, int width, int constraints)
      : space_(space), a_(a), b_(b), preconditioner_(preconditioner), options_(options), observer_(observer),
        width_(width), constraints_(constraints), guard_(std::max(width - options.pairs, 0)),
        state_(space, width, constraints + options.pairs + width, b != nullptr),
        test_(options, 1.0, 1.0, 0.0) {
    // A window narrower than the pairs asked for still wants guards behind the last of them.
    if (width <= options.pairs) guard_ = std::min(width - 1, default_block_size(width) - width);
  }

  EigenResult<T> run(const DenseBlock<T>* constraints, DenseBlock<T> initial);

 private:
  void take_constraints(const DenseBlock<T>& constraints);
  void fill_start_block(const DenseBlock<T>& initial);
  void start();
  void iterate();
  bool expand(int refill);
  void rayleigh_ritz(int wanted);
  void apply_ritz(const RitzSolution& solution);
  void refresh();
  void check_preconditioner();
  void lock(int count);
  int leading_done() const;
  Outcome judge(int j) const;
  double ratio(int j) const;
  void measure_norms();
  void record(int columns);
  bool conclude();
  void gather_basis();
  void verify();
  void reopen(std::vector<int> failed);
  void finish();

  int active() const { return state_.x.cols(); }
  int locked() const { return static_cast<int>(locked_.values.size()); }
  int remaining() const { return options_.pairs - locked(); }
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  using Clock = std::chrono::steady_clock;

  BlockSpace<T>& space_;
  LinearOperator<T>& a_;
  LinearOperator<T>* b_;
  LinearOperator<T>* preconditioner_;
  LobpcgOptions options_;
  const Observer& observer_;
  int width_;
  int constraints_;
  int guard_;
  LobpcgState<T> state_;
  ResidualTest test_;
  RitzPairs ritz_;
  RitzPairs locked_;
  SmallMatrix projected_p_;
  std::vector<int> order_;  ///< columns behind the constraints in the order of ritz_, after verify()
  EigenResult<T> result_;
  Clock::time_point began_ = Clock::now();
  int since_refresh_ = 0;
  int rounds_ = 0;
  bool exhausted_ = false;
};

template <class T>
EigenResult<T> Lobpcg<T>::run(const DenseBlock<T>* constraints, DenseBlock<T> initial) {
  if (constraints != nullptr) take_constraints(*constraints);
  fill_start_block(initial);
  initial = {};
  start();
  result_.setup_seconds = elapsed();
  do {
    iterate();
  } while (!conclude());
  result_.solve_seconds = elapsed() - result_.setup_seconds;
  return std::move(result_);
}

template <class T>
void Lobpcg<T>::take_constraints(const DenseBlock<T>& constraints) {
  const BlockView<T> c = state_.kept_storage(0, constraints.cols());
  const BlockView<T> bc = state_.b_kept_storage(0, constraints.cols());
  space_.copy(constraints.view(), c);
  if (b_ != nullptr) b_->apply(c, bc);
  const LocalIndex kept = orthonormalize<T>(space_, {}, c, bc, {}, Orthonormality::to_rounding);
  state_.set_kept_columns(kept);
  constraints_ = kept;
}

/// Start vectors as given, random ones behind them; dependent ones are replaced by further random ones.
template <class T>
void Lobpcg<T>::fill_start_block(const DenseBlock<T>& initial) {
  state_.set_x_columns(width_);
  const BlockView<T> x = state_.x.view();
  LocalIndex good = 0;
  LocalIndex given = std::min(initial.cols(), width_);
  for (std::uint64_t attempt = 0; good < width_; ++attempt) {
    if (attempt > 5) throw RunError("lobpcg: no independent start vectors left outside the constraints");
    if (given > 0) space_.copy(initial.columns(0, given), x.columns(0, given));
    const LocalIndex filled = good + given;
    space_.fill_random(x.columns(filled, width_ - filled), options_.seed + attempt);
    given = 0;
    const BlockView<T> fresh = x.columns(good, width_ - good);
    const BlockView<T> b_fresh = state_.bx().columns(good, width_ - good);
    if (b_ != nullptr) b_->apply(fresh, b_fresh);
    good += orthonormalize<T>(space_, {state_.kept(), x.columns(0, good)}, fresh, b_fresh,
                              {state_.b_kept(), ConstBlockView<T>(state_.bx()).columns(0, good)},
                              Orthonormality::to_rounding);
  }
}

/// Rayleigh-Ritz on the start block.
template <class T>
void Lobpcg<T>::start() {
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
    return RitzProblem{gram, SmallMatrix::identity(gram.rows()), 0, gram.rows(), options_.which == Which::largest};
  }));
}

template <class T>
void Lobpcg<T>::iterate() {
  exhausted_ = false;
  for (;;) {
    const int done = leading_done();
    if (done >= remaining() || result_.iterations >= options_.max_iterations) return;
    lock(done);
    const int refill = std::min(width_, remaining() + guard_) - active();
    state_.lock(0, active() + refill);
    if (!expand(refill)) {
      exhausted_ = true;
      return;
    }
    const int columns = state_.w.cols();
    rayleigh_ritz(active() + refill);
    ++result_.iterations;
    if (++since_refresh_ >= refresh_period && active() > 0 &&
        test_.rounding_matters(ritz_.values.front(), ritz_.image_norms.front(), ritz_.norms.front())) {
      refresh();
    }
    record(columns);
  }
}

/// W = M^-1 R, random columns where the window has room, orthonormal against all that is known; A W. False when
/// nothing new is left.
template <class T>
bool Lobpcg<T>::expand(int refill) {
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
  if (b_ != nullptr) b_->apply(w, state_.bw());
  const LocalIndex kept = orthonormalize<T>(space_, {state_.kept(), state_.x.view(), state_.p.view()}, w, state_.bw(),
                                            {state_.b_kept(), state_.bx(), state_.bp()},
                                            Orthonormality::well_conditioned);
  if (kept == 0) return false;
  state_.narrow_w(kept);
  a_.apply(state_.w.view(), state_.aw.view());
  return true;
}

template <class T>
void Lobpcg<T>::check_preconditioner() {
  constexpr int period = 10;
  if (preconditioner_ == nullptr || result_.iterations % period != 0) return;
  const std::vector<double> dots = space_.column_dots(state_.r.view(), state_.w.columns(0, active()));
  for (std::size_t j = 0; j < dots.size(); ++j) {
    if (dots[j] > 0.0 || ritz_.residuals[j] == 0.0) continue;
    throw RunError("the preconditioner is not positive definite: r'M^-1 r = " + std::to_string(dots[j]) +
                   " for a residual of norm " + std::to_string(ritz_.residuals[j]));
  }
}

/// Z^T A Z and Z^T B Z from what is known of X and P and from one Gram product with W.
template <class T>
void Lobpcg<T>::rayleigh_ritz(int wanted) {
  const int nx = active();
  const int np = state_.p.cols();
  const int nw = state_.w.cols();
  const int size = nx + np + nw;
  SmallMatrix products;
  space_.gram({state_.x.view(), state_.p.view(), state_.w.view()}, {state_.aw.view(), state_.bw()}, products);
  apply_ritz(solve_on_root<T>(space_, [&] {
    RitzProblem problem{SmallMatrix(size, size), SmallMatrix::identity(size), nx, wanted,
                        options_.which == Which::largest};
    for (int j = 0; j < nx; ++j) problem.projected(j, j) = ritz_.values[static_cast<std::size_t>(j)];
    for (int j = 0; j < np; ++j) {
      for (int i = 0; i < np; ++i) problem.projected(nx + i, nx + j) = projected_p_(i, j);
    }
    fill_w_columns(problem.projected, products, 0);
    fill_w_columns(problem.gram, products, nw);
    return problem;
  }));
}

/// X, P and their images by the same coefficients; new residuals.
template <class T>
void Lobpcg<T>::apply_ritz(const RitzSolution& solution) {
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
void Lobpcg<T>::measure_norms() {
  ritz_.norms.assign(ritz_.values.size(), 1.0);
  ritz_.image_norms = ritz_.norms;
  if (b_ == nullptr) return;
  ritz_.norms = space_.column_norms(state_.x.view());
  ritz_.image_norms = space_.column_norms(state_.bx());
}

/// A X and A P anew, so that rounding errors of the updates do not add up.
template <class T>
void Lobpcg<T>::refresh() {
  a_.apply(state_.x.view(), state_.ax.view());
  if (state_.p.cols() > 0) a_.apply(state_.p.view(), state_.ap.view());
  ritz_.residuals = space_.residual(state_.ax.view(), state_.bx(), ritz_.values, state_.r.view());
  since_refresh_ = 0;
}

template <class T>
Outcome Lobpcg<T>::judge(int j) const {
  const auto i = static_cast<std::size_t>(j);
  return test_.judge(ritz_.values[i], ritz_.residuals[i], ritz_.image_norms[i], ritz_.norms[i]);
}

template <class T>
double Lobpcg<T>::ratio(int j) const {
  const auto i = static_cast<std::size_t>(j);
  return test_.ratio(ritz_.values[i], ritz_.residuals[i], ritz_.image_norms[i], ritz_.norms[i]);
}

template <class T>
int Lobpcg<T>::leading_done() const {
  int count = 0;
  while (count < std::min(active(), remaining()) && judge(count) != Outcome::not_converged) ++count;
  return count;
}

template <class T>
void Lobpcg<T>::lock(int count) {
  if (count == 0) return;
  locked_.values.insert(locked_.values.end(), ritz_.values.begin(), ritz_.values.begin() + count);
  locked_.residuals.insert(locked_.residuals.end(), ritz_.residuals.begin(), ritz_.residuals.begin() + count);
  state_.lock(count, active() - count);
  ritz_.drop_leading(count);
}

template <class T>
void Lobpcg<T>::record(int columns) {
  const auto pairs = static_cast<std::size_t>(options_.pairs);
  LobpcgIteration entry{locked_.values, locked_.residuals, elapsed(), columns};
  const auto open = std::min<std::size_t>(ritz_.values.size(), pairs - entry.eigenvalues.size());
  entry.eigenvalues.insert(entry.eigenvalues.end(), ritz_.values.begin(), ritz_.values.begin() + static_cast<int>(open));
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

/// Locked and active vectors side by side behind the constraints.
template <class T>
void Lobpcg<T>::gather_basis() {
  const LocalIndex first = state_.kept_columns();
  space_.copy(state_.x.view(), state_.kept_storage(first, active()));
  if (b_ != nullptr) space_.copy(state_.bx(), state_.b_kept_storage(first, active()));
  state_.set_kept_columns(first + active());
}

/// Rayleigh quotients and residuals of everything kept behind the constraints, A x computed anew, as many columns
/// at a time as the panels hold; in the order of the eigenvalues asked for. Uses the storage of ax and r.
template <class T>
void Lobpcg<T>::verify() {
  const LocalIndex total = state_.kept_columns() - constraints_;
  RitzPairs all;
  for (LocalIndex first = 0; first < total; first += width_) {
    const LocalIndex count = std::min(width_, total - first);
    const ConstBlockView<T> x = state_.kept().columns(constraints_ + first, count);
    const BlockView<T> bx = state_.b_kept_storage(constraints_ + first, count);
    if (b_ != nullptr) b_->apply(x, bx);
    state_.ax.set_columns(count);
    a_.apply(x, state_.ax.view());
    std::vector<double> values = space_.column_dots(x, state_.ax.view());
    const std::vector<double> squared = space_.column_dots(x, bx);
    for (std::size_t j = 0; j < values.size(); ++j) values[j] /= squared[j];
    state_.r.set_columns(count);
    all.append(values, space_.residual(state_.ax.view(), bx, values, state_.r.view()),
               b_ != nullptr ? space_.column_norms(bx) : std::vector<double>(values.size(), 1.0),
               b_ != nullptr ? space_.column_norms(x) : std::vector<double>(values.size(), 1.0));
  }
  order_.resize(all.values.size());
  std::iota(order_.begin(), order_.end(), 0);
  const double sign = options_.which == Which::largest ? -1.0 : 1.0;
  std::stable_sort(order_.begin(), order_.end(), [&](int i, int j) {
    return sign * all.values[static_cast<std::size_t>(i)] < sign * all.values[static_cast<std::size_t>(j)];
  });
  ritz_ = all.in_order(order_);
  since_refresh_ = 0;
}

/// The final check. Returns true when the run is over; else the pairs that failed are back at work.
template <class T>
bool Lobpcg<T>::conclude() {
  gather_basis();
  verify();
  std::vector<int> failed;
  for (int j = 0; j < options_.pairs; ++j) {
    if (judge(j) == Outcome::not_converged) failed.push_back(j);
  }
  const bool out_of_iterations = result_.iterations >= options_.max_iterations;
  if (failed.empty() || exhausted_ || out_of_iterations || ++rounds_ >= most_rounds) {
    if (!failed.empty()) {
      result_.remark = exhausted_ ? "the search space is exhausted: no new direction is left in this precision"
                       : out_of_iterations ? "max_iterations = " + std::to_string(options_.max_iterations) + " reached"
                                           : "the true residuals stay above those of the recursion: the tolerance is "
                                             "near the limit of this precision";
    }
    finish();
    return true;
  }
  reopen(failed);
  return false;
}

/// Takes the failed pairs and the guard vectors out of what is kept and starts again with these.
template <class T>
void Lobpcg<T>::reopen(std::vector<int> failed) {
  for (int j = options_.pairs; j < static_cast<int>(order_.size()); ++j) failed.push_back(j);
  failed.resize(std::min<std::size_t>(failed.size(), static_cast<std::size_t>(width_)));
  std::vector<bool> taken(order_.size(), false);
  state_.set_x_columns(static_cast<LocalIndex>(failed.size()));
  LocalIndex to = 0;
  for (const int j : failed) {
    const int column = order_[static_cast<std::size_t>(j)];
    taken[static_cast<std::size_t>(column)] = true;
    space_.copy(state_.kept().columns(constraints_ + column, 1), state_.x.view().columns(to, 1));
    if (b_ != nullptr) space_.copy(state_.b_kept().columns(constraints_ + column, 1), state_.bx().columns(to, 1));
    ++to;
  }
  LocalIndex kept = constraints_;
  locked_ = {};
  std::vector<std::pair<double, double>> staying(order_.size());
  for (std::size_t j = 0; j < order_.size(); ++j) {
    staying[static_cast<std::size_t>(order_[j])] = {ritz_.values[j], ritz_.residuals[j]};
  }
  for (LocalIndex column = 0; column < static_cast<LocalIndex>(taken.size()); ++column) {
    if (taken[static_cast<std::size_t>(column)]) continue;
    if (kept != constraints_ + column) {
      space_.copy(state_.kept().columns(constraints_ + column, 1), state_.kept_storage(kept, 1));
      if (b_ != nullptr) {
        space_.copy(state_.b_kept().columns(constraints_ + column, 1), state_.b_kept_storage(kept, 1));
      }
    }
    locked_.values.push_back(staying[static_cast<std::size_t>(column)].first);
    locked_.residuals.push_back(staying[static_cast<std::size_t>(column)].second);
    ++kept;
  }
  state_.set_kept_columns(kept);
  start();
}

template <class T>
void Lobpcg<T>::finish() {
  const int pairs = options_.pairs;
  result_.eigenvalues.assign(ritz_.values.begin(), ritz_.values.begin() + pairs);
  result_.residual_norms.assign(ritz_.residuals.begin(), ritz_.residuals.begin() + pairs);
  for (int j = 0; j < pairs; ++j) result_.outcomes.push_back(judge(j));
  result_.error_bounds =
      b_ == nullptr ? result_.residual_norms : std::vector<double>(static_cast<std::size_t>(pairs), nan);
  result_.eigenvectors = space_.make_block(pairs);
  for (int j = 0; j < pairs; ++j) {
    space_.copy(state_.kept().columns(constraints_ + order_[static_cast<std::size_t>(j)], 1),
                result_.eigenvectors.view().columns(j, 1));
  }
}

void check_options(const LobpcgOptions& options, GlobalIndex dimension, int constraints) {
  const GlobalIndex room = dimension - constraints;
  require(options.pairs >= 1, "eigensolver.pairs must be at least 1, not " + std::to_string(options.pairs));
  require(options.pairs <= room, "eigensolver.pairs = " + std::to_string(options.pairs) + ", but the matrix has only " +
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
  Lobpcg<T> solver(space, a, b, preconditioner, options, observer, width, constraint_columns);
  return solver.run(constraints, std::move(initial));
}

template EigenResult<float> lobpcg(BlockSpace<float>&, LinearOperator<float>&, LinearOperator<float>*,
                                   LinearOperator<float>*, const DenseBlock<float>*, DenseBlock<float>,
                                   const LobpcgOptions&, const Observer&);
template EigenResult<double> lobpcg(BlockSpace<double>&, LinearOperator<double>&, LinearOperator<double>*,
                                    LinearOperator<double>*, const DenseBlock<double>*, DenseBlock<double>,
                                    const LobpcgOptions&, const Observer&);

}  // namespace block_eigs
