#include "solver/block_cg/bcgrq_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "solver/block_cg/bcgrq_drift.hpp"
#include "spmm/error.hpp"

namespace block_eigs::bcgrq {

namespace {

/// Iterations between two looks at p^T A p / p^T p, which take one more block of memory traffic.
constexpr int curvature_period = 16;
/// The recurrence aims a little below the limit, so that the true residual is not above it by rounding.
constexpr double aim = 0.999;

/// Norms, which right-hand sides are at work, and lengths in Q.
SmallMatrix summary(const BlockCgRecurrence& recurrence) {
  const SmallMatrix& components = recurrence.components();
  SmallMatrix result(3, static_cast<int>(recurrence.sides().size()));
  for (int j = 0; j < result.cols(); ++j) {
    const BlockCgRecurrence::Side& side = recurrence.sides()[static_cast<std::size_t>(j)];
    result(0, j) = side.norm;
    result(1, j) = side.active ? 1.0 : 0.0;
    const double* c = components.column(j);
    result(2, j) = std::sqrt(std::inner_product(c, c + components.rows(), c, 0.0));
  }
  return result;
}

/// What summary() says, to the columns; those at work have taken part in one more iteration, if it was one.
void adopt(const SmallMatrix& norms, bool iteration, std::vector<Column>& columns) {
  for (int j = 0; j < norms.cols(); ++j) {
    Column& column = columns[static_cast<std::size_t>(j)];
    if (!column.active) continue;
    if (iteration) ++column.iterations;
    column.recursive_norm = norms(0, j);
    note_dip(column);
    column.inner_norm = norms(2, j);
    column.active = norms(1, j) != 0.0;
  }
}

/// About the largest norm of a column of the next Q', by the products of the last one; 0 where it is not to be
/// told. The next one is orthonormal in the inner product of M^-1, however large the last one was: what that is
/// for its columns is said by their products.
template <class T>
double size_of_basis(const State<T>& state) {
  const int columns = state.products.rows();
  double square = 0.0;
  if (state.products.cols() != 2 * columns) return 0.0;
  for (int j = 0; j < columns; ++j) {
    const double ratio = state.products(j, columns + j) / state.products(j, j);
    if (!(ratio > 0.0) || !std::isfinite(ratio)) return 0.0;
    square = std::max(square, ratio);
  }
  return std::sqrt(square);
}

/// Z' = M^-1 Q' and the products of both; the columns of Q' are about as large as `size`, where it is not 0.
template <class T>
void measure_basis_of_size(State<T>& state, double size) {
  const ConstBlockView<T> q = state.q.view();
  if (state.preconditioner == nullptr) return state.space.gram({q}, {q}, state.products);
  {
    const Profile::Scope scope(state.space.profile(), Phase::preconditioner);
    state.z.set_columns(q.cols);
    if (size > 0.0) {
      const std::vector<double> sizes(static_cast<std::size_t>(q.cols), size);
      state.preconditioner->apply_sized(q, sizes, state.z.view());
    } else {
      state.preconditioner->apply(q, state.z.view());
    }
  }
  state.space.gram({q}, {state.z.view(), q}, state.products);
}

/// Brings a part of X up to date while the first sums of its lifetime are waited for.
template <class T>
class WhileWaiting {
 public:
  explicit WhileWaiting(State<T>& state) : kernels_(state.space.kernels()) {
    if (state.deferred.defers()) kernels_.meanwhile([&state] { state.deferred.advance(); });
  }
  WhileWaiting(const WhileWaiting&) = delete;
  WhileWaiting& operator=(const WhileWaiting&) = delete;
  ~WhileWaiting() { kernels_.meanwhile({}); }

 private:
  Kernels<T>& kernels_;
};

/// X <- X + S step and S <- [S, Z'] directions, the first some time in this round.
template <class T>
void update_solution_later(State<T>& state, Sides<T>& sides, const SmallMatrix& coefficients) {
  const int columns = sides.count();
  const int before = state.s.cols();
  SmallMatrix step(before, columns);
  for (int j = 0; j < columns; ++j) std::copy_n(coefficients.column(j) + columns, before, step.column(j));
  SmallMatrix directions(coefficients.rows() - columns, coefficients.cols() - columns);
  for (int j = 0; j < directions.cols(); ++j)
    std::copy_n(coefficients.column(columns + j) + columns, directions.rows(), directions.column(j));
  Panel<T> next = state.deferred.spare();
  next.set_columns(directions.cols());
  state.space.update({state.s.view(), state.preconditioned()}, directions, {next.view()});
  state.deferred.add(sides.x, std::exchange(state.s, std::move(next)), std::move(step));
}

/// Q' <- [in] coefficients, and what measure_basis() does then. Uses up state.as.
template <class T>
void replace_basis(State<T>& state, const ConstBlockList<T>& in, const SmallMatrix& coefficients) {
  const LocalIndex columns = coefficients.cols();
  const BlockView<T> q = state.q.view().columns(0, columns);
  const bool plain = state.preconditioner == nullptr;
  RowScaling<T> scaling;
  if (!plain) {
    state.z.set_columns(columns);
    scaling = {state.preconditioner->row_factors(), q, state.z.view()};
  }
  // A rank without rows may have no numbers to multiply by: it goes the other way, through the same sums.
  const bool at_once = plain || scaling.d != nullptr;
  if (at_once) {
    Sums sums;
    const WhileWaiting waiting(state);
    const ConstBlockView<T> z = state.z.view();
    state.space.update_gram(in, coefficients, {q}, scaling, {q},
                            plain ? ConstBlockList<T>{q} : ConstBlockList<T>{z, q}, state.products, sums);
    state.space.sum(sums);
  } else {
    state.space.update(in, coefficients, {q});
  }
  state.q.narrow(0, columns);
  state.q.compact(state.space, columns, state.as);
  if (!at_once) measure_basis_of_size(state, size_of_basis(state));
}

}  // namespace

template <class T>
State<T>::State(BlockSpace<T>& of_space, LinearOperator<T>& matrix, LinearOperator<T>* inverse, double tolerance,
                LocalIndex columns)
    : space(of_space),
      a(matrix),
      preconditioner(inverse),
      width(columns),
      test(tolerance, std::isnan(matrix.norm_inf()) ? 0.0 : matrix.norm_inf(), std::numeric_limits<T>::epsilon()),
      recurrence(std::numeric_limits<T>::epsilon()),
      q(space, columns),
      z(space, inverse != nullptr ? columns : 0),
      s(space, columns),
      as(space, columns),
      probe(space, matrix) {
  a.reserve(columns);
  if (preconditioner != nullptr) preconditioner->reserve(columns);
  const bool pays =
      DeferredSolution<T>::pays(*space.context().device, preconditioner, space.local_rows(), columns);
  if (space.comm().any(!pays)) return;
  try {
    deferred = DeferredSolution<T>(space, columns);
  } catch (const OnAllRanks&) {
    // Ranks that share a GPU may all have seen the same free memory. What there is goes on without.
  }
}

template <class T>
void begin_recurrence(State<T>& state, const Sides<T>& sides) {
  std::vector<BlockCgRecurrence::Side> small;
  for (const Column& column : sides.columns) {
    const double floor = 0.01 * std::numeric_limits<T>::epsilon() * column.rhs_norm;
    small.push_back({std::max(aim * column.limit, column.aim), floor, column.active});
  }
  state.recurrence.restart(std::move(small));
  state.s.set_columns(0);
}

template <class T>
void measure_basis(State<T>& state) {
  measure_basis_of_size(state, 0.0);
}

template <class T>
bool orthonormalise(State<T>& state, Sides<T>& sides, SmallMatrix& coefficients) {
  using Result = BlockCgRecurrence::Result;
  BlockCgRecurrence& recurrence = state.recurrence;
  SmallMatrix norms, rebasing, fault;
  do {
    state.space.solve_small(
        [&] {
          const Result result = recurrence.factorise(state.products);
          rebasing = result == Result::nearly_dependent ? recurrence.rebasing() : SmallMatrix();
          if (result == Result::orthonormal) {
            recurrence.narrow();
            coefficients = recurrence.direction_update();
          }
          const bool sound = result == Result::orthonormal || result == Result::nearly_dependent;
          norms = sound ? summary(recurrence) : SmallMatrix();
          fault.resize(sound ? 0 : 2, 1);
          if (sound) return;
          fault(0, 0) = static_cast<double>(result);
          fault(1, 0) = recurrence.inner_square();
        },
        {&norms, &rebasing, &coefficients, &fault});
    if (rebasing.cols() > 0) replace_basis(state, {state.q.view()}, rebasing);
  } while (rebasing.cols() > 0);
  if (fault.rows() > 0) {
    const auto result = static_cast<Result>(static_cast<int>(fault(0, 0)));
    if (result == Result::not_finite) {
      note_beyond_range(sides);
    } else {
      note_preconditioner_fault(state, sides, result == Result::not_positive, fault(1, 0));
    }
    return false;
  }
  adopt(norms, state.s.cols() > 0, sides.columns);
  return true;
}

template <class T>
void begin_directions(State<T>& state, const SmallMatrix& coefficients) {
  state.s.set_columns(coefficients.cols());
  state.space.update({state.preconditioned()}, coefficients, {state.s.view()});
}

template <class T>
void multiply(State<T>& state) {
  state.as.set_columns(state.s.cols());
  state.a.apply(state.s.view(), state.as.view());
}

template <class T>
std::optional<RoundEnd> invert_curvature(State<T>& state, Sides<T>& sides, const Budget& budget, int k,
                                         SmallMatrix& coefficients) {
  const bool look = k % curvature_period == 0;
  const ConstBlockView<T> s = state.s.view();
  state.as.set_columns(s.cols);
  const BlockView<T> as = state.as.view();
  SmallMatrix products;
  std::vector<double> solution_norms;
  Sums sums;
  const WhileWaiting waiting(state);
  if (look) {
    state.a.apply(s, as);
    state.space.gram({s}, {as, s}, products, sums);
  } else {
    state.space.apply_gram(state.a, s, as, products, sums);
  }
  if (look && k > 0) state.space.column_norms(sides.x, solution_norms, sums);
  state.space.sum(sums);
  if (!products.all_finite()) {
    note_beyond_range(sides);
    return RoundEnd::impossible;
  }
  if (look) {
    if (const auto end = examine(state, sides, budget, products)) return end;
  }
  if (look && k > 0) {
    const bool doubtful = measure_solutions(state, sides, solution_norms);
    if (doubtful && give_up_growing(state, sides, budget)) return RoundEnd::given_up;
    if (doubtful) multiply(state);
  }
  state.space.solve_small([&] { coefficients = state.recurrence.residual_update(products); }, {&coefficients});
  if (coefficients.cols() > 0) return std::nullopt;
  if (look) return RoundEnd::stalled;
  state.space.gram({s}, {as, s}, products);
  if (!products.all_finite()) {
    note_beyond_range(sides);
    return RoundEnd::impossible;
  }
  return examine(state, sides, budget, products).value_or(RoundEnd::stalled);
}

template <class T>
void update_residuals(State<T>& state, const SmallMatrix& coefficients) {
  replace_basis(state, {state.q.view(), state.as.view()}, coefficients);
}

template <class T>
void update_solution(State<T>& state, Sides<T>& sides, const SmallMatrix& coefficients) {
  if (state.deferred.defers()) return update_solution_later(state, sides, coefficients);
  const LocalIndex directions = coefficients.cols() - sides.count();
  state.space.update({sides.x, state.s.view(), state.preconditioned()}, coefficients,
                     {sides.x, state.s.view().columns(0, directions)});
  state.s.narrow(0, directions);
  state.s.compact(state.space, directions, state.as);
}

template struct State<float>;
template void begin_recurrence(State<float>&, const Sides<float>&);
template void measure_basis(State<float>&);
template bool orthonormalise(State<float>&, Sides<float>&, SmallMatrix&);
template void begin_directions(State<float>&, const SmallMatrix&);
template void multiply(State<float>&);
template std::optional<RoundEnd> invert_curvature(State<float>&, Sides<float>&, const Budget&, int, SmallMatrix&);
template void update_residuals(State<float>&, const SmallMatrix&);
template void update_solution(State<float>&, Sides<float>&, const SmallMatrix&);
template struct State<double>;
template void begin_recurrence(State<double>&, const Sides<double>&);
template void measure_basis(State<double>&);
template bool orthonormalise(State<double>&, Sides<double>&, SmallMatrix&);
template void begin_directions(State<double>&, const SmallMatrix&);
template void multiply(State<double>&);
template std::optional<RoundEnd> invert_curvature(State<double>&, Sides<double>&, const Budget&, int,
                                                  SmallMatrix&);
template void update_residuals(State<double>&, const SmallMatrix&);
template void update_solution(State<double>&, Sides<double>&, const SmallMatrix&);

}  // namespace block_eigs::bcgrq
