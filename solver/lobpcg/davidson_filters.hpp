#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "solver/davidson/davidson_plan.hpp"
#include "solver/davidson/residual_filter.hpp"
#include "solver/lobpcg/filtered_start.hpp"
#include "solver/lobpcg/lobpcg_state.hpp"

// The filters of davidson_start().
namespace block_eigs {

/// The iteration, while it runs.
template <class T>
struct Davidson {
  const LobpcgRun<T>& run;
  LobpcgState<T>& state;
  DavidsonShape shape;
  FilterProgress progress{};
  SpectrumBounds bounds{};  ///< of what filters work on: of all of the spectrum, but for outliers
  DenseBlock<T>
      outliers{};  ///< orthonormal, orthogonal to what is deflated; filters bring forth nothing along them
  DavidsonRitz ritz{};
  double sign = 1.0;
  double constraints = std::numeric_limits<double>::infinity();  ///< how low their values are
  bool settled = true;                                           ///< see DavidsonPairs
  int products = 0;                                              ///< columns multiplied since the last report
  /// For filters in float beside a basis in double, while they bring it forward.
  std::optional<ResidualFilter> of_residuals{};
};

/// W <- W - V (V^T W), V the outliers. Collective.
template <class T>
void take_out_along_outliers(Davidson<T>& it, BlockView<T> w);

/// W <- the filter of W, the first `done` columns of X being pairs that are done. Collective.
template <class T>
void filter_w(Davidson<T>& it, const DavidsonFilter& filter, LocalIndex done);

/// W <- these columns of X. Not collective.
template <class T>
void gather(Davidson<T>& it, const std::vector<LocalIndex>& columns);

/// W <- what the filter adds to these columns of X, by their residuals. False, and nothing has happened, where
/// that is not what is done. Collective.
template <class T>
bool filter_residuals(Davidson<T>& it, const DavidsonFilter& filter, LocalIndex done,
                      const std::vector<LocalIndex>& columns);

/// Where A is there in float beside a basis in double, and no outliers would fill float's digits. Collective.
template <class T>
void prepare_filter_of_residuals(Davidson<T>& it);

}  // namespace block_eigs
