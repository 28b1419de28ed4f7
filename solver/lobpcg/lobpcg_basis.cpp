#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "solver/lobpcg/lobpcg_start.hpp"
#include "solver/lobpcg/lobpcg_steps.hpp"
#include "solver/small/gram_matrix.hpp"
#include "spmm/error.hpp"

// Rayleigh-Ritz on the basis [X P W], and what keeps that from breaking. See docs/theory.md, "A basis that cannot
// break".
namespace block_eigs {

namespace {

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

/// X^T A X and P^T A P as the last step left them, X^T A P = 0.
template <class T>
void fill_known(SmallMatrix& projected, const LobpcgState<T>& state) {
  const int nx = state.x.cols();
  const int np = state.p.cols();
  for (int j = 0; j < nx; ++j) projected(j, j) = state.ritz.values[static_cast<std::size_t>(j)];
  for (int j = 0; j < np; ++j) {
    for (int i = 0; i < np; ++i) projected(nx + i, nx + j) = state.projected_p(i, j);
  }
}

SmallMatrix leading_rows(const SmallMatrix& matrix, int count) {
  if (matrix.rows() < count) return {};
  SmallMatrix result(count, matrix.cols());
  for (int j = 0; j < result.cols(); ++j) std::copy_n(matrix.column(j), count, result.column(j));
  return result;
}

template <class T>
void add_products_of_w(const LobpcgRun<T>& run, const LobpcgState<T>& state, BasisProducts& products, Sums& sums) {
  run.problem.space.gram({state.x.v(), state.p.v(), state.w.v()}, {state.w.a(), state.w.b()}, products.of_w, sums);
}

/// y = A x, of any number of columns.
template <class T>
void apply_some(const LobpcgRun<T>& run, ConstBlockView<T> x, BlockView<T> y) {
  if (x.cols > 0) run.problem.a.apply(x, y);
}

/// In one message; what was formed ahead is not formed again. With B the projection of W before had one pass, and
/// what that has left of V is measured where `projected`. Images that nobody carries along take the place of R,
/// which the step that follows makes anew.
template <class T>
BasisProducts multiply_basis(const LobpcgRun<T>& run, LobpcgState<T>& state, bool measured, bool projected) {
  BlockSpace<T>& space = run.problem.space;
  BasisProducts products;
  Sums sums;
  if (state.ahead) {
    products = *std::exchange(state.ahead, std::nullopt);
  } else {
    add_products_of_w(run, state, products, sums);
  }
  if (measured) {
    const BlockView<T> ax = state.make_room_for_image_of_x();
    const BlockView<T> ap = state.make_room_for_image_of_p_in_r();
    if (!state.carries_images) {
      apply_some<T>(run, state.x.v(), ax);
      apply_some<T>(run, state.p.v(), ap);
    }
    space.gram({state.x.v(), state.p.v()}, {ax, ap, state.x.b(), state.p.b()}, products.of_known, sums);
  }
  if (projected && run.problem.b != nullptr && state.deflated.cols() > 0)
    space.gram({state.deflated.v()}, {state.w.b()}, products.along_deflated, sums);
  space.sum(sums);
  return products;
}

/// Largest part of a column of W that lies along V, both as B measures.
double largest_part_along(const BasisProducts& products) {
  const SmallMatrix& along = products.along_deflated;
  const int before = products.of_w.rows() - along.cols();
  double most = 0.0;
  for (int j = 0; j < along.cols(); ++j) {
    const double squared = products.of_w(before + j, along.cols() + j);
    for (int i = 0; i < along.rows(); ++i) most = std::max(most, std::abs(along(i, j)) / std::sqrt(squared));
  }
  return most;
}

/// Z^T A Z and Z^T B Z from the products with W and what is known of X and P, or from products with these; the
/// small problem's solution.
template <class T>
RitzSolution project(const LobpcgRun<T>& run, const LobpcgState<T>& state, const BasisProducts& products,
                     int wanted, double smallest_pivot) {
  const int known = state.x.cols() + state.p.cols();
  const int nw = state.w.cols();
  const int moving = columns_with_directions(run, state);
  return solve_ritz_for_all<T>(run.problem.space, [&] {
    const int size = known + nw;
    RitzProblem problem{SmallMatrix(size, size), SmallMatrix::identity(size),        moving, wanted,
                        smallest_pivot,          run.options.which == Which::largest};
    if (products.of_known.cols() > 0) {
      fill_leading(problem.projected, products.of_known, 0);
      fill_leading(problem.gram, products.of_known, known);
    } else {
      fill_known(problem.projected, state);
      problem.errors = leading_rows(state.rounding.samples, known);
    }
    problem.seed = static_cast<std::uint64_t>(run.budget.spent());
    fill_w_columns(problem.projected, products.of_w, 0);
    fill_w_columns(problem.gram, products.of_w, nw);
    return problem;
  });
}

/// Whether Ritz values are what a larger space can give: none worse than before, none beyond the norm of A.
template <class T>
bool possible(const LobpcgRun<T>& run, const LobpcgState<T>& state, const RitzSolution& solution) {
  constexpr double roundings = 1e3;
  const double sign = run.options.which == Which::largest ? -1.0 : 1.0;
  const double norm = run.problem.b == nullptr ? run.problem.a.norm_inf() : std::nan("");
  for (std::size_t j = 0; j < solution.values.size(); ++j) {
    const double value = solution.values[j];
    if (!std::isfinite(value)) return false;
    if (std::abs(value) > 1.001 * norm) return false;
    if (j >= state.ritz.values.size()) continue;
    const double slack =
        roundings * state.test.largest_rounding(state.ritz.pair(static_cast<int>(j))) / state.ritz.image_norms[j];
    if (sign * (value - state.ritz.values[j]) > slack) return false;
  }
  return !solution.values.empty();
}

template <class T>
bool is_finite(const LobpcgRun<T>& run, const LobpcgState<T>& state) {
  for (const ConstBlockView<T> block : {ConstBlockView<T>(state.w.v()), ConstBlockView<T>(state.w.a())}) {
    for (const double norm : run.problem.space.column_norms(block)) {
      if (!std::isfinite(norm)) return false;
    }
  }
  return true;
}

/// What may be lost of the orthogonality of X and P: what changes the smallest residual at work, through the
/// energies of P, by a hundredth. Never so little that it is within rounding errors, nor so much that Cholesky
/// factors suffer.
template <class T>
double tolerable_loss(const LobpcgRun<T>& run, const LobpcgState<T>& state) {
  const double epsilon = std::numeric_limits<T>::epsilon();
  double energy = 0.0;
  for (const double value : state.ritz.values) energy = std::max(energy, std::abs(value));
  for (int j = 0; j < state.projected_p.cols(); ++j) energy = std::max(energy, std::abs(state.projected_p(j, j)));
  double least = std::numeric_limits<double>::infinity();
  for (int j = 0; j < state.wanted(run.options); ++j) {
    const auto i = static_cast<std::size_t>(j);
    const double residual = std::max(state.ritz.residuals[i], state.ritz.enough(state.test, j));
    least = std::min(least, residual / state.ritz.image_norms[i]);
  }
  const double loss = energy > 0.0 ? 0.01 * least / energy : 1.0;
  return std::clamp(loss, 10.0 * epsilon, std::sqrt(epsilon));
}

/// Largest element of V^T B [X P], V deflated.
template <class T>
double along_deflated(const LobpcgRun<T>& run, const LobpcgState<T>& state) {
  SmallMatrix products;
  run.problem.space.gram({state.deflated.b()}, {state.x.v(), state.p.v()}, products);
  double most = 0.0;
  for (const double value : products.values()) most = std::max(most, std::abs(value));
  return most;
}

/// A [X P] where it is carried along, B [X P], and R from X and P as they are.
template <class T>
void renew_images(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  const EigenProblem<T>& problem = run.problem;
  const BlockView<T> ax = state.make_room_for_image_of_x();
  apply_some<T>(run, state.x.v(), ax);
  if (state.carries_images) apply_some<T>(run, state.p.v(), state.p.a());
  for (const VectorPanel<T>* panel : {&state.x, &state.p}) {
    if (problem.b != nullptr && panel->cols() > 0) problem.b->apply(panel->v(), panel->b());
  }
  Sums sums;
  problem.space.residual(ax, state.x.b(), state.ritz.values, state.r.view(), state.ritz.residuals, sums);
  add_x_along_r(run, state, sums);
  problem.space.sum(sums);
  state.rounding.since_refresh = 0;
}

}  // namespace

template <class T>
void resort_to(const LobpcgRun<T>& run, LobpcgState<T>& state, Resort resort) {
  BlockSpace<T>& space = run.problem.space;
  if (resort == Resort::without_p) {
    state.p.narrow(0, 0);  // its rows stay as wide as what comes into them
    return;
  }
  if (resort == Resort::orthonormal_w) {
    // B W may have been carried along with B [X P], whose errors a badly conditioned B makes large.
    if (run.problem.b != nullptr) run.problem.b->apply(state.w.v(), state.w.b());
    orthonormalize_w(run, state);
    run.problem.a.apply(state.w.v(), state.w.a());
    return;
  }
  orthonormalize_x(run, state, 0);
  rayleigh_ritz_of_x(run, state);
  state.w.set_columns(state.active());
  space.copy(state.r.view(), state.w.v());
  if (run.problem.b != nullptr) run.problem.b->apply(state.w.v(), state.w.b());
  orthonormalize_w(run, state);
  run.problem.a.apply(state.w.v(), state.w.a());
}

template <class T>
RitzSolution rayleigh_ritz(const LobpcgRun<T>& run, LobpcgState<T>& state, int wanted) {
  if (state.w.cols() == 0) return {};
  const double acceptable = acceptable_pivot(run, state);
  const bool strict = acceptable > strict_pivot;
  BasisProducts products = multiply_basis(run, state, state.rounding.measure, !strict);
  if (largest_part_along(products) > tolerable_loss(run, state)) {
    deflate(run.problem, state);
    run.problem.b->apply(state.w.v(), state.w.b());
    run.problem.a.apply(state.w.v(), state.w.a());
    products = multiply_basis(run, state, state.rounding.measure, false);
  }
  RitzSolution solution = project(run, state, products, wanted, strict ? 0.0 : acceptable);
  if (possible(run, state, solution)) return solution;
  if (!is_finite(run, state)) return {};
  // What is left of W once and again is small beside it: from here on it is made orthonormal before it is
  // multiplied.
  constexpr int strict_iterations = 10;
  state.rounding.strict_until = run.budget.spent() + strict_iterations;
  for (const Resort resort : {Resort::orthonormal_w, Resort::without_p, Resort::renewed_x}) {
    resort_to(run, state, resort);
    if (state.w.cols() == 0) continue;
    solution = project(run, state, multiply_basis(run, state, true, false), wanted, 0.0);
    if (possible(run, state, solution)) return solution;
  }
  return {};
}

template <class T>
bool may_look_ahead(const LobpcgRun<T>& run, const LobpcgState<T>& state) {
  const bool plain = run.problem.preconditioner == nullptr && !run.problem.with_mass() && !state.carries_images;
  // Whether guard vectors rest in that step is told by norms, which are not known yet.
  const bool all_move = !may_rest(run) || state.wanted(run.options) == state.active();
  return plain && state.deflated.cols() == 0 && run.iterations_left() > 1 && fresh_columns(run, state) == 0 &&
         all_move && state.r.is_at_front() && acceptable_pivot(run, state) <= strict_pivot;
}

template <class T>
void look_ahead(const LobpcgRun<T>& run, LobpcgState<T>& state, std::vector<double>& norms) {
  expand(run, state);  // W is R
  run.problem.a.apply(state.w.v(), state.w.a());
  BasisProducts products;
  Sums sums;
  add_products_of_w(run, state, products, sums);
  run.problem.space.sum(sums);
  const int columns = state.w.cols();
  const int before = products.of_w.rows() - columns;
  norms.clear();
  for (int j = 0; j < columns; ++j) norms.push_back(std::sqrt(products.of_w(before + j, columns + j)));
  state.ahead = std::move(products);
}

template <class T>
void step_back(LobpcgState<T>& state) {
  if (!state.ahead) return;
  state.ahead.reset();
  std::swap(state.r, state.w.vectors());
  state.w.set_columns(0);
}

template <class T>
void refresh(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  constexpr int period = 40;
  if (state.active() == 0) return;
  RoundingErrors& rounding = state.rounding;
  const double epsilon = std::numeric_limits<T>::epsilon();
  const double tolerable = tolerable_loss(run, state);
  rounding.measure = epsilon * rounding.amplification > tolerable;
  if (rounding.measure && state.deflated.cols() > 0 && along_deflated(run, state) > tolerable) {
    deflate(run.problem, state, state.x.v());
    deflate(run.problem, state, state.p.v());
    renew_images(run, state);
    return;
  }
  ++rounding.since_refresh;
  if (!state.carries_images || !run.phase.verified || rounding.since_refresh < period) return;
  if (state.test.rounding_matters(state.ritz.pair(0))) renew_images(run, state);
}

template void resort_to(const LobpcgRun<float>&, LobpcgState<float>&, Resort);
template RitzSolution rayleigh_ritz(const LobpcgRun<float>&, LobpcgState<float>&, int);
template void refresh(const LobpcgRun<float>&, LobpcgState<float>&);
template bool may_look_ahead(const LobpcgRun<float>&, const LobpcgState<float>&);
template void look_ahead(const LobpcgRun<float>&, LobpcgState<float>&, std::vector<double>&);
template void step_back(LobpcgState<float>&);
template void resort_to(const LobpcgRun<double>&, LobpcgState<double>&, Resort);
template RitzSolution rayleigh_ritz(const LobpcgRun<double>&, LobpcgState<double>&, int);
template void refresh(const LobpcgRun<double>&, LobpcgState<double>&);
template bool may_look_ahead(const LobpcgRun<double>&, const LobpcgState<double>&);
template void look_ahead(const LobpcgRun<double>&, LobpcgState<double>&, std::vector<double>&);
template void step_back(LobpcgState<double>&);

}  // namespace block_eigs
