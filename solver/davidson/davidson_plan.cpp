#include "solver/davidson/davidson_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace block_eigs {

namespace {

constexpr double largest_degree = 400.0;
constexpr double smallest_degree = 6.0;
/// The logarithm of how much more a filter keeps of the lowest open pair than of the cut. With less there are more
/// small problems and the basis is used up by vectors that tell little, with more it becomes subspace iteration.
constexpr double growth_of_filters = 4.0;
/// The same for random vectors: what one orthonormalisation can still tell apart.
constexpr double growth_of_first_filter = 15.0;
/// The Ritz value to cut at, in columns that a restart leaves. In a basis that has not been full yet, Ritz values
/// that far behind are far above eigenvalues.
constexpr double cut_behind = 1.4;
constexpr double cut_at_first = 0.7;
/// Of the way from the last wanted value to the one to cut at.
constexpr double through_a_cluster = 0.05;
/// Of an interval's length.
constexpr double moved_by_little = 0.1;

double middle_of(const SpectrumBounds& bounds) {
  return 0.5 * (bounds.upper + std::max(bounds.lower, -bounds.upper));
}

int degree_for(double growth, double of_all) {
  return static_cast<int>(std::ceil(std::clamp(of_all / growth, smallest_degree, largest_degree)));
}

/// Whether a filter that cuts there can tell the last wanted value from the cut.
bool tells_apart(double last, double cut, const SpectrumBounds& bounds) {
  constexpr double least_growth = 0.1;
  return last < cut && largest_degree * FilterInterval{cut, bounds.upper, last}.growth(last) > least_growth;
}

/// After a restart the values that are left end before those that were there: the cut stays then. Not where it is
/// among the wanted ones, or so near them that it goes through a cluster. That is told by the value behind in a
/// full basis, for what has just come to one that was restarted tells nothing; else by the last cut.
double where_to_cut(const DavidsonPairs& pairs, const DavidsonShape& shape, const SpectrumBounds& bounds,
                    double cut, double behind) {
  const double last = pairs.values[pairs.ratios.size() - 1];
  const std::size_t room = 2 * static_cast<std::size_t>(shape.block);
  const bool full = pairs.values.size() + room > static_cast<std::size_t>(shape.capacity);
  const double near = full ? through_a_cluster * (behind - last) : 0.0;
  const double lower = cut - last > near ? std::min(cut, behind) : behind;
  return tells_apart(last, lower, bounds) || !(cut > lower) ? lower : cut;
}

}  // namespace

DavidsonShape davidson_shape(int width, GlobalIndex dimension) {
  constexpr int least_block = 8;
  constexpr int most_block = 48;
  constexpr int least_growth = 24;
  DavidsonShape shape;
  shape.block = std::clamp(4 * width / 5 / 4 * 4, least_block, most_block);
  shape.keep = width + std::clamp(width, 20, 40);
  shape.capacity = shape.keep + std::max(4 * std::min(shape.block, width), least_growth);
  shape.keep = static_cast<int>(std::min<GlobalIndex>(shape.keep, dimension / 3));
  shape.capacity = static_cast<int>(std::min<GlobalIndex>(shape.capacity, dimension / 2));
  shape.block = std::min({shape.block, width, shape.capacity - shape.keep});
  return shape;
}

int DavidsonPairs::first_open() const {
  const auto open = std::find_if(ratios.begin(), ratios.end(), [](double ratio) { return !(ratio <= 1.0); });
  return static_cast<int>(open - ratios.begin());
}

std::vector<LocalIndex> DavidsonPairs::open_columns(LocalIndex columns, int most) const {
  std::vector<LocalIndex> open;
  for (LocalIndex j = 0; j < columns && static_cast<int>(open.size()) < most; ++j) {
    const auto i = static_cast<std::size_t>(j);
    if (i >= ratios.size() || !(ratios[i] <= 1.0)) open.push_back(j);
  }
  return open;
}

double DavidsonPairs::worst() const { return *std::max_element(ratios.begin(), ratios.end()); }

std::optional<DavidsonFilter> next_filter(const DavidsonPairs& pairs, const DavidsonShape& shape,
                                          const SpectrumBounds& bounds, double cut, bool residuals) {
  const std::vector<double>& values = pairs.values;
  const auto open = static_cast<std::size_t>(pairs.first_open());
  const double behind_kept = pairs.settled ? cut_behind : cut_at_first;
  const std::size_t at = std::min(values.size(), std::max(static_cast<std::size_t>(behind_kept * shape.keep),
                                                          pairs.ratios.size() + 1)) -
                         1;
  const double half_way = 0.5 * (values[open] + bounds.upper);
  // The first cut was below all that is wanted, and its filter has told nothing of that apart: a cut behind a Ritz
  // value is behind what is wanted, wherever that is.
  if (!(values.front() < middle_of(bounds))) {
    const double behind = std::min(values[at], half_way);
    if (!(values[open] < behind) || !(bounds.lower < behind)) return std::nullopt;
    DavidsonFilter filter{{behind, bounds.upper, bounds.lower}};
    filter.degree = degree_for(filter.interval.growth(bounds.lower), growth_of_first_filter);
    return filter;
  }
  DavidsonFilter filter;
  filter.interval.lower = where_to_cut(pairs, shape, bounds, cut, values[at]);
  filter.interval.lower = std::min(filter.interval.lower, half_way);
  filter.interval.upper = bounds.upper;
  const double distance = filter.interval.lower - values[open];
  filter.interval.anchor = values[open] - std::min(pairs.residual, 0.5 * distance);
  const double growth = filter.interval.growth(filter.interval.anchor);
  if (!(distance > 0.0) || !(growth > 0.0)) return std::nullopt;
  filter.degree = degree_for(growth, growth_of_filters);
  filter.of_residuals = residuals && distance <= moved_by_little * (filter.interval.upper - filter.interval.lower);
  const double of_last = filter.of_residuals ? growth : filter.interval.growth(values[pairs.ratios.size() - 1]);
  const double missing = std::log(4.0 * pairs.worst());
  if (missing < growth_of_filters && of_last > 0.0)
    filter.degree = std::min(filter.degree, degree_for(of_last, missing));
  return filter;
}

std::optional<DavidsonFilter> first_filter(double lowest, double cut, const SpectrumBounds& bounds) {
  if (!(lowest < cut) || !(cut < middle_of(bounds))) return std::nullopt;
  DavidsonFilter filter{{cut, bounds.upper, lowest}};
  filter.degree = degree_for(filter.interval.growth(lowest), growth_of_first_filter);
  return filter;
}

double products_to_come(const DavidsonPairs& pairs, const SpectrumBounds& bounds, double cut) {
  // What is left in the basis of earlier filters helps, and not every product goes to the pair that needs it most.
  constexpr double share = 2.0;
  const FilterInterval interval{cut, bounds.upper, cut};
  double products = 0.0;
  for (std::size_t j = 0; j < pairs.ratios.size(); ++j) {
    if (pairs.ratios[j] <= 1.0) continue;
    const double growth = pairs.values[j] < cut ? interval.growth(pairs.values[j]) : 0.0;
    if (!(growth > 0.0)) return std::numeric_limits<double>::quiet_NaN();
    products += share * std::log(2.0 * pairs.ratios[j]) / growth;
  }
  return products;
}

bool DavidsonProgress::ends_after(const DavidsonPairs& pairs, double cut) {
  constexpr int patience = 6;
  constexpr int patience_near_rounding = 1;
  constexpr double nothing = 1e-3;
  const double worst = pairs.worst();
  const auto wanted = static_cast<std::ptrdiff_t>(pairs.ratios.size());
  const double sum = std::accumulate(pairs.values.begin(), pairs.values.begin() + wanted, 0.0);
  const auto open = static_cast<std::size_t>(std::min(pairs.first_open(), static_cast<int>(wanted) - 1));
  const double scale = nothing * static_cast<double>(wanted) * std::max(cut - pairs.values[open], 0.0);
  constexpr double forward = 0.9;
  if (worst < forward * worst_ || pairs.largest_residual < forward * residual_ || sum < sum_ - scale) {
    worst_ = std::min(worst, worst_);
    residual_ = std::min(pairs.largest_residual, residual_);
    sum_ = std::min(sum, sum_);
    since_ = 0;
    return false;
  }
  return ++since_ >= (worst_ <= rounding_ ? patience_near_rounding : patience);
}

}  // namespace block_eigs
