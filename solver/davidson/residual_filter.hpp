#pragma once

#include <functional>
#include <span>

#include "solver/davidson/chebyshev_filter.hpp"
#include "solver/space/block_space.hpp"
#include "solver/space/panel.hpp"

namespace block_eigs {

/// Ritz pairs of S = sign A, and which of them are to be filtered.
struct FilteredPairs {
  ConstBlockView<double> residuals;  ///< A x - x theta, a column a pair
  std::span<const double> norms;     ///< of these
  std::span<const double> values;    ///< of S, ascending
  std::span<const LocalIndex> columns;
};

/// What a Chebyshev filter adds to Ritz pairs (theta_j, x_j) of S = sign A in double, by products in float. With p
/// the filter's polynomial p(S) x = p(theta) x + q(S) r, r = S x - theta x. A basis that holds x is in want of the
/// second part alone, whose leading digits will do however small r is: so it grows by products of half the bytes
/// down to any residual.
///
/// Column j is filtered by p(S - (theta_j - theta_1)), for which p(theta_1) is one number for all columns: their
/// intervals move along with them, and what is kept of x_j against what lies in its interval is the same for all.
class ResidualFilter {
 public:
  /// For up to `columns` columns. Collective; throws OnAllRanks where memory is short.
  ResidualFilter(const BlockSpace<double>& space, LinearOperator<float>& a, LocalIndex columns);

  /// w <- q(S) r / |r| for as many columns. The anchor is at most the first value, degree at least 1; degree - 1
  /// products with A. `period` and `clean` as for chebyshev_filter. Collective.
  void apply(BlockSpace<double>& space, const FilteredPairs& pairs, const FilterInterval& interval, double sign,
             int degree, int period, const std::function<void(BlockView<double>)>& clean, BlockView<double> w);

 private:
  void take_residuals(BlockSpace<double>& space, const FilteredPairs& pairs);

  BlockSpace<float> space_;
  LinearOperator<float>& a_;
  bool takes_steps_;  ///< with A
  Panel<float> r_, now_, before_, image_;
};

}  // namespace block_eigs
