#include "apps/choice/choice.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/input/preconditioner.hpp"

namespace block_eigs {

namespace {

/// Another way must be expected to be so much cheaper than what is left of this one.
constexpr double worth_a_change = 1.5;
constexpr int most_changes = 4;
/// Of a cluster of eigenvalues with more members than columns at work the wanted ones are hard to tell from the
/// others; of one that fits into the block they are not. Blocks become so many times wider, up to so many columns
/// and so many bytes of all blocks at work.
constexpr int widening = 8;
constexpr int widest = 128;
constexpr double blocks_at_work = 13.0;
constexpr double most_bytes_for_wider = 1e9;
/// Iterations that a rate is measured over, and before which none is believed: start vectors are random.
constexpr std::size_t rate_window = 10;
constexpr std::size_t first_judgement = 20;

/// Degrees that filters need for the lowest of `rows` eigenvalues of a mesh: the square root of the ratio of the
/// norm to the distances between wanted eigenvalues, which on a mesh of d dimensions goes like a power 1/d of
/// rows over columns. Rows with few neighbours are taken for those of a plane.
double expected_degrees(const MatrixTraits& traits, int columns) {
  constexpr double for_one = 25.0;
  if (!traits.like_diffusion()) return 12.0 * for_one;
  const bool planar = traits.longest_row < 7.0 ||
                      (traits.longest_row > 7.0 && traits.longest_row < 20.0 && traits.mean_row() < 9.5);
  return for_one * std::pow(std::max(traits.rows / columns, 1.0), planar ? 1.0 / 2.0 : 1.0 / 3.0);
}

PreconditionerConfig of_type(const PreconditionerConfig& asked, PreconditionerType type) {
  PreconditionerConfig result = asked;
  result.type = type;
  return result;
}

}  // namespace

void EigensolverChoice::add(PreconditionerType type, bool filtered, double steps, const std::string& reason) {
  Candidate candidate{of_type(asked_.preconditioner, type), filtered};
  const double step =
      filtered ? costs_.degree() : costs_.iteration() + costs_.preconditioner(candidate.preconditioner);
  candidate.cost = costs_.setup(type) + steps * step;
  candidate.reason = reason;
  candidates_.push_back(std::move(candidate));
}

EigensolverChoice::EigensolverChoice(const MatrixTraits& traits, const CostModel& costs,
                                     const EigensolverConfig& asked, bool with_mass)
    : traits_(traits), asked_(asked), costs_(costs), with_mass_(with_mass) {
  list_candidates();
}

void EigensolverChoice::list_candidates() {
  const LobpcgOptions& options = asked_.options;
  const MatrixTraits& traits = traits_;
  candidates_.clear();
  const bool can_filter = !with_mass_ && options.filtered_start && traits.norm_inf > 0.0;
  if (options.which == Which::largest) {
    const char* reason = "one would amplify the lower end of the spectrum";
    if (can_filter) add(PreconditionerType::none, true, 100.0, reason);
    add(PreconditionerType::none, false, 100.0, reason);
    take_cheapest();
    return;
  }
  const bool varied = traits.badly_scaled() && !traits.reaches_down();
  const double degrees = expected_degrees(traits, options.block_size);
  // Chebyshev preconditioning takes a twelfth of the filters' degrees in iterations of LOBPCG, Jacobi nearly all.
  if (can_filter && !varied) add(PreconditionerType::none, true, degrees, "filters need nothing but A");
  if (can_filter && varied) {
    const double factor = traits.norm_inf / traits.least_row;
    add(PreconditionerType::jacobi, false, degrees,
        fmt::format("rows differ in size by a factor of {:.0e}", factor));
    // Filters have one norm for all rows.
    add(PreconditionerType::none, true, degrees * std::sqrt(factor / 100.0), "filters need nothing but A");
  }
  // Its interval is as long as D^-1 A is large, which is 2 where the diagonal dominates.
  add(PreconditionerType::chebyshev, false,
      (20.0 + degrees / 12.0) * std::sqrt(std::max(traits.scaled_norm / 2.0, 1.0)), "it needs nothing but A");
  if (!can_filter && !varied) add(PreconditionerType::jacobi, false, degrees, "it costs next to nothing");
  if (traits.least_diagonal > 0.0 && !traits.has_hubs()) {
    const double iterations = traits.like_diffusion() ? 18.0 : traits.semidefinite() ? 25.0 : 60.0;
    add(PreconditionerType::amg, false, iterations,
        traits.like_diffusion() ? "rows add up to zero as those of a diffusion do" : "the diagonal is positive");
  }
  take_cheapest();
}

void EigensolverChoice::take_cheapest() {
  at_ = static_cast<std::size_t>(
      std::min_element(candidates_.begin(), candidates_.end(),
                       [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; }) -
      candidates_.begin());
}

EigensolverConfig EigensolverChoice::config() const {
  EigensolverConfig result = asked_;
  result.preconditioner = current().preconditioner;
  result.options.filtered_start = asked_.options.filtered_start &&
                                  (current().filtered || result.preconditioner.type == PreconditionerType::jacobi);
  // Given vectors may be better than float can make them.
  if (result.preconditioner.type == PreconditionerType::amg && exists_in_float(result.preconditioner) &&
      !asked_.initial)
    result.inner_precision = Precision::float32;
  return result;
}

std::string EigensolverChoice::description() const {
  return fmt::format("{}{}, because {}", block_eigs::description(current().preconditioner),
                     current().filtered ? " with filters" : "", current().reason);
}

/// From the rate of the iterations so far or of the last ones, whichever is better (float ends in a plateau), or
/// from what filters say themselves. While these cannot say anything, as much as they have cost already.
std::optional<double> EigensolverChoice::cost_to_go(const IterationReport& report) {
  if (report.products > report.active_columns) {
    progress_.clear();
    const double columns = std::max(report.active_columns, 1);
    spent_ += report.products / columns * costs_.degree();
    if (std::isnan(report.products_to_come)) return spent_;
    return report.products_to_come / columns * costs_.degree();
  }
  progress_.push_back(std::log(std::max(report.worst, 1.0)));
  if (progress_.size() < first_judgement) return std::nullopt;
  const auto steps = static_cast<double>(progress_.size() - 1);
  const double best = *std::min_element(progress_.begin(), progress_.end());
  const double of_all = (progress_.front() - best) / steps;
  const double of_last =
      (progress_[progress_.size() - 1 - rate_window] - progress_.back()) / static_cast<double>(rate_window);
  const double rate = std::max(of_all, of_last);
  const double iteration = costs_.iteration() + costs_.preconditioner(current().preconditioner);
  // One that does not come forward is taken to need all iterations that it may have.
  const double left = rate > 0.0 ? best / rate : 1e6;
  return std::min(left, 1e6) * iteration;
}

std::optional<std::size_t> EigensolverChoice::best_other() const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (i != at_ && (!best || candidates_[i].cost < candidates_[*best].cost)) best = i;
  }
  return best;
}

bool EigensolverChoice::proceed(const IterationReport& report) {
  if (!report.eigenvalues.empty() && std::isfinite(report.eigenvalues.front()) &&
      std::isfinite(report.residual_norms.front())) {
    // A positive Ritz value says nothing of that kind, however large its residual is at first.
    const double lowest = report.eigenvalues.front();
    lowest_ = lowest < 0.0 && !traits_.semidefinite() ? lowest - report.residual_norms.front() : 0.0;
  }
  values_.assign(report.eigenvalues.begin(), report.eigenvalues.end());
  const std::optional<double> left = cost_to_go(report);
  if (!left) return true;
  current().cost = *left;
  const std::optional<std::size_t> other = best_other();
  const double elsewhere = std::min(other ? candidates_[*other].cost : HUGE_VAL, cost_of_wider());
  return changes_ >= most_changes || *left <= worth_a_change * elsewhere;
}

/// Whether the later half of the wanted values lie so close together that there may be more of them than columns,
/// and yet so far apart that the tolerance tells them from one that is there many times.
bool EigensolverChoice::clustered() const {
  constexpr double close = 1e-4;
  constexpr double rounding = 1e-13;
  if (values_.empty() || !std::isfinite(values_.back())) return false;
  const double last = values_.back();
  const double spread = std::abs(last - values_[values_.size() / 2]);
  return spread <= close * std::abs(last) &&
         spread > std::max(asked_.options.tolerance * std::abs(last), rounding * traits_.norm_inf);
}

bool EigensolverChoice::can_widen() const {
  const LobpcgOptions& options = asked_.options;
  return !widened_ && clustered() && options.pairs <= options.block_size && options.block_size < widest &&
         blocks_at_work * widest / options.block_size * costs_.block <= most_bytes_for_wider;
}

double EigensolverChoice::cost_of_wider() const {
  if (!can_widen()) return HUGE_VAL;
  EigensolverChoice wider = *this;
  wider.widen();
  return wider.current().cost;
}

void EigensolverChoice::widen() {
  int& columns = asked_.options.block_size;
  const int wider = std::min(widening * columns, widest);
  costs_.block *= static_cast<double>(wider) / columns;
  columns = wider;
  widened_ = true;
  list_candidates();
}

bool EigensolverChoice::change(Limitation limitation) {
  if (limitation == Limitation::none || changes_ >= most_changes) return false;
  if (limitation != Limitation::preconditioner && can_widen()) {
    ++changes_;
    progress_.clear();
    spent_ = 0.0;
    widen();
    current().reason = fmt::format("eigenvalues lie close together; {} columns", asked_.options.block_size);
    return true;
  }
  const std::optional<std::size_t> next = best_other();
  // A way that has come to its end is not taken again.
  if (limitation != Limitation::stopped) current().cost = HUGE_VAL;
  if (!next || candidates_[*next].cost == HUGE_VAL) return false;
  const std::string before = block_eigs::description(current().preconditioner);
  at_ = *next;
  ++changes_;
  progress_.clear();
  spent_ = 0.0;
  current().reason = limitation == Limitation::preconditioner ? before + " is not positive definite here"
                     : limitation == Limitation::stopped      ? before + " comes forward too slowly"
                                                              : before + " did not come to the end";
  if (current().preconditioner.type == PreconditionerType::amg && lowest_ < 0.0)
    current().preconditioner.amg.shift = 1.05 * lowest_;
  return true;
}

}  // namespace block_eigs
