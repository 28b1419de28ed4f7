#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "solver/davidson/chebyshev_filter.hpp"
#include "spmm/types.hpp"

// What a block Chebyshev-Davidson iteration does next, by numbers alone.
namespace block_eigs {

/// Columns of the basis. Where each begins and ends was found by trying: fewer columns in a filter take fewer
/// products and more small problems, a larger basis pays little.
struct DavidsonShape {
  int block = 0;     ///< filtered at a time
  int keep = 0;      ///< left by a restart
  int capacity = 0;  ///< at most
};

/// For so many columns at work, pairs and guard vectors, in a space of this dimension, which is at least five
/// times as large.
DavidsonShape davidson_shape(int width, GlobalIndex dimension);

/// Where the spectrum is expected to end; filters rely on the upper end.
struct SpectrumBounds {
  double lower = 0.0;
  double upper = 0.0;
};

/// The pairs at hand, in the order of their values; ratios are those of residuals to limits, for as many as are
/// wanted.
struct DavidsonPairs {
  std::vector<double> values;  ///< all Ritz values, ascending
  std::vector<double> ratios;
  double residual = 0.0;          ///< of the first open pair
  double largest_residual = 0.0;  ///< of all that are open
  /// Whether values behind the wanted ones come near eigenvalues: the basis has been full before, or began with
  /// approximate eigenvectors.
  bool settled = true;

  /// The first pair that is not done; the number of wanted ones where all are.
  int first_open() const;
  /// The lowest `most` of `columns` Ritz vectors, but for those that are done: those behind the wanted ones, too.
  std::vector<LocalIndex> open_columns(LocalIndex columns, int most) const;
  double worst() const;
};

/// A filter, and what is expected of it.
struct DavidsonFilter {
  FilterInterval interval;
  int degree = 0;
  bool of_residuals = false;  ///< what it adds comes from a ResidualFilter, whose intervals move along with values
};

/// The filter for the lowest open pairs; nothing where no pair can be told from the part to be damped. `cut` is
/// where the last one cut. Of residuals where these may be filtered and intervals are much the same when they are
/// moved by what values before the cut differ: by little beside their length.
std::optional<DavidsonFilter> next_filter(const DavidsonPairs& pairs, const DavidsonShape& shape,
                                          const SpectrumBounds& bounds, double cut, bool residuals = false);

/// The first one, for random vectors: `cut` is where it cuts, `lowest` where the spectrum begins, if it is not
/// where the norm leads to expect it. Nothing where that makes no interval.
std::optional<DavidsonFilter> first_filter(double lowest, double cut, const SpectrumBounds& bounds);

/// Columns that filters which cut at `cut` are expected to multiply until all pairs are done; NaN where not even
/// the wanted pairs lie before it.
double products_to_come(const DavidsonPairs& pairs, const SpectrumBounds& bounds, double cut);

/// Notices when neither residuals nor Ritz values come forward. Residuals as they are, too: beside their limits
/// those of a value that goes to zero do not.
class DavidsonProgress {
 public:
  /// Ratios of `rounding` and less are near what rounding errors leave.
  DavidsonProgress(double rounding) : rounding_(rounding) {}
  /// Takes note of the pairs after one more step: whether it is time to give up.
  bool ends_after(const DavidsonPairs& pairs, double cut);

 private:
  double rounding_;
  double worst_ = std::numeric_limits<double>::infinity();
  double residual_ = std::numeric_limits<double>::infinity();
  double sum_ = std::numeric_limits<double>::infinity();
  int since_ = 0;
};

}  // namespace block_eigs
