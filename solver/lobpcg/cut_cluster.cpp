#include "solver/lobpcg/cut_cluster.hpp"

#include <algorithm>
#include <cmath>

#include "solver/lobpcg/lobpcg_steps.hpp"
#include "solver/small/lapack.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Columns [first, end) of X.
struct Cluster {
  int first, end;
};

/// Of the pairs whose values are that of the last wanted one, but for so little of its limit.
template <class T>
Cluster cluster_of(const LobpcgState<T>& state, int last_wanted) {
  constexpr double share = 1e-2;
  const std::vector<double>& values = state.ritz.values;
  // A difference of values is as much of a residual times ||B x||.
  const double spread = share * state.ritz.enough(state.test, last_wanted) /
                        state.ritz.image_norms[static_cast<std::size_t>(last_wanted)];
  const auto belongs = [&](int j) {
    return std::abs(values[static_cast<std::size_t>(j)] - values[static_cast<std::size_t>(last_wanted)]) <= spread;
  };
  Cluster cluster{last_wanted, last_wanted + 1};
  while (cluster.first > 0 && belongs(cluster.first - 1)) --cluster.first;
  while (cluster.end < state.ritz.count() && belongs(cluster.end)) ++cluster.end;
  return cluster;
}

/// The rows of the cluster, turned as its vectors are.
void turn_rows(SmallMatrix& samples, const Cluster& cluster, const SmallMatrix& rotation) {
  if (samples.rows() < cluster.end) return;
  for (int j = 0; j < samples.cols(); ++j) {
    double* const column = samples.column(j) + cluster.first;
    const std::vector<double> old(column, column + rotation.rows());
    for (int i = 0; i < rotation.cols(); ++i) {
      column[i] = 0.0;
      for (int k = 0; k < rotation.rows(); ++k) column[i] += rotation(k, i) * old[static_cast<std::size_t>(k)];
    }
  }
}

}  // namespace

template <class T>
void separate_from_guards(const LobpcgRun<T>& run, LobpcgState<T>& state, double before) {
  const int wanted = state.wanted(run.options);
  if (wanted == 0 || wanted == state.active() || state.window.one_of_many) return;
  RitzPairs& ritz = state.ritz;
  const int last = wanted - 1;
  const double residual = ritz.residuals[static_cast<std::size_t>(last)];
  if (!(residual > before) || residual <= ritz.enough(state.test, last)) return;
  const Cluster cluster = cluster_of(state, last);
  if (cluster.end == wanted) return;
  step_back(state);
  BlockSpace<T>& space = run.problem.space;
  const int count = cluster.end - cluster.first;
  const auto part = [&](BlockView<T> block) { return block.columns(cluster.first, count); };
  SmallMatrix rotation;
  space.gram({part(state.r.view())}, {part(state.r.view())}, rotation);
  if (!rotation.all_finite()) return;
  try {
    space.solve_small([&] { lapack::symmetric_eigen(rotation); }, {&rotation});
  } catch (const NumericalError&) {
    return;  // on all ranks: X does as it is
  }
  const auto turn = [&](BlockView<T> block) { space.update({part(block)}, rotation, {part(block)}); };
  turn(state.x.v());
  turn(state.r.view());
  if (state.carries_images) turn(state.x.a());
  if (run.problem.b != nullptr) turn(state.x.b());
  turn_rows(state.rounding.samples, cluster, rotation);
  Sums sums;
  space.column_norms(state.r.view(), ritz.residuals, sums);
  if (run.problem.b != nullptr) {
    space.column_norms(state.x.v(), ritz.norms, sums);
    space.column_norms(state.x.b(), ritz.image_norms, sums);
  }
  add_x_along_r(run, state, sums);
  space.sum(sums);
}

template void separate_from_guards(const LobpcgRun<float>&, LobpcgState<float>&, double);
template void separate_from_guards(const LobpcgRun<double>&, LobpcgState<double>&, double);

}  // namespace block_eigs
