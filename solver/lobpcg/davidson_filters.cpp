#include "solver/lobpcg/davidson_filters.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "solver/davidson/chebyshev_filter.hpp"
#include "solver/lobpcg/spectrum_bounds.hpp"
#include "solver/space/column_runs.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// W <- W - [V X] ([V X]^T W).
template <class T>
void project_out(BlockSpace<T>& space, ConstBlockView<T> v, ConstBlockView<T> x, BlockView<T> w) {
  SmallMatrix products;
  space.gram({v, x}, {w}, products);
  SmallMatrix coefficients(products.rows() + w.cols, w.cols);
  for (int j = 0; j < w.cols; ++j) {
    for (int i = 0; i < products.rows(); ++i) coefficients(i, j) = -products(i, j);
    coefficients(products.rows() + j, j) = 1.0;
  }
  space.update({v, x, w}, coefficients, {w});
}

/// Takes what is deflated and the first `done` columns of X out of W.
template <class T>
void take_out(const Davidson<T>& it, LocalIndex done, BlockView<T> w) {
  project_out<T>(it.run.problem.space, it.state.deflated.v(), ConstBlockView<T>(it.state.x.v()).columns(0, done),
                 w);
}

/// The lowest of the values of pairs that are done. These, and constraints, whose values may be the lowest of all,
/// come back in filters from rounding errors, and are taken out again before they hide the others.
template <class T>
double lowest_done(const Davidson<T>& it, LocalIndex done) {
  const double lowest = done > 0 ? it.ritz.values.front() : infinity;
  const RitzPairs& locked = it.state.locked;
  return locked.count() > 0 ? std::min(lowest, turned(it.run, locked.values).front()) : lowest;
}

}  // namespace

template <class T>
void take_out_along_outliers(Davidson<T>& it, BlockView<T> w) {
  if (it.outliers.cols() > 0) project_out<T>(it.run.problem.space, std::as_const(it.outliers).view(), {}, w);
}

template <class T>
void filter_w(Davidson<T>& it, const DavidsonFilter& filter, LocalIndex done) {
  LobpcgState<T>& state = it.state;
  const int period = degrees_to_clean<T>(filter.interval, it.constraints, lowest_done(it, done));
  const LocalIndex columns = state.w.cols();
  state.spare.set_columns(columns);
  take_out_along_outliers(it, state.w.v());
  chebyshev_filter<T>(it.run.problem.space, it.run.problem.a, state.w.vectors(), state.spare, state.w.a(),
                      filter.interval, it.sign, filter.degree, [&](int k, BlockView<T> last, BlockView<T> before) {
                        // A degree multiplies what rounding errors leave along outliers by twice their distance
                        // over the interval's length.
                        take_out_along_outliers(it, last);
                        if (k % period == 0) take_out(it, done, last), take_out(it, done, before);
                      });
  it.products += filter.degree * columns;
}

template <class T>
void gather(Davidson<T>& it, const std::vector<LocalIndex>& columns) {
  LobpcgState<T>& state = it.state;
  state.w.set_columns(static_cast<LocalIndex>(columns.size()));
  for_each_run(columns, [&](LocalIndex first, LocalIndex at, LocalIndex count) {
    it.run.problem.space.copy(state.x.v().columns(first, count), state.w.v().columns(at, count));
  });
}

template <class T>
bool filter_residuals(Davidson<T>& it, const DavidsonFilter& filter, LocalIndex done,
                      const std::vector<LocalIndex>& columns) {
  if constexpr (std::is_same_v<T, double>) {
    LobpcgState<T>& state = it.state;
    if (!filter.of_residuals) return false;
    const double first = it.ritz.values[static_cast<std::size_t>(columns.front())];
    state.w.set_columns(static_cast<LocalIndex>(columns.size()));
    // The interval of the last column is moved furthest.
    const double moved = it.ritz.values[static_cast<std::size_t>(columns.back())] - first;
    const int period =
        degrees_to_clean<float>(filter.interval, it.constraints - moved, lowest_done(it, done) - moved);
    it.of_residuals->apply(
        it.run.problem.space, {state.r.view(), state.ritz.residuals, it.ritz.values, columns}, filter.interval,
        it.sign, filter.degree, period, [&](BlockView<double> w) { take_out(it, done, w); }, state.w.v());
    it.products += (filter.degree - 1) * state.w.cols();
    return true;
  }
  return false;
}

template <class T>
void prepare_filter_of_residuals(Davidson<T>& it) {
  if constexpr (std::is_same_v<T, double>) {
    if (it.run.in_float.a == nullptr || it.outliers.cols() > 0) return;
    try {
      it.of_residuals.emplace(it.run.problem.space, *it.run.in_float.a, it.shape.block);
    } catch (const OnAllRanks&) {
      // Filters in double need no memory of their own.
    }
  }
}

template void take_out_along_outliers(Davidson<float>&, BlockView<float>);
template void filter_w(Davidson<float>&, const DavidsonFilter&, LocalIndex);
template void gather(Davidson<float>&, const std::vector<LocalIndex>&);
template bool filter_residuals(Davidson<float>&, const DavidsonFilter&, LocalIndex,
                               const std::vector<LocalIndex>&);
template void prepare_filter_of_residuals(Davidson<float>&);
template void take_out_along_outliers(Davidson<double>&, BlockView<double>);
template void filter_w(Davidson<double>&, const DavidsonFilter&, LocalIndex);
template void gather(Davidson<double>&, const std::vector<LocalIndex>&);
template bool filter_residuals(Davidson<double>&, const DavidsonFilter&, LocalIndex,
                               const std::vector<LocalIndex>&);
template void prepare_filter_of_residuals(Davidson<double>&);

}  // namespace block_eigs
