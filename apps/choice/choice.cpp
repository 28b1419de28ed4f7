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
    : asked_(asked), costs_(costs), semidefinite_(traits.semidefinite()) {
  const LobpcgOptions& options = asked.options;
  if (options.which == Which::largest) {
    add(PreconditionerType::none, false, 100.0, "one would amplify the lower end of the spectrum");
    return;
  }
  const bool can_filter = !with_mass && options.filtered_start && traits.norm_inf > 0.0;
  const bool varied = traits.badly_scaled();
  const double degrees = expected_degrees(traits, options.block_size);
  // Chebyshev preconditioning takes a twelfth of the filters' degrees in iterations of LOBPCG, Jacobi nearly all.
  if (can_filter && !varied) add(PreconditionerType::none, true, degrees, "filters need nothing but A");
  if (can_filter && varied)
    add(PreconditionerType::jacobi, false, degrees,
        fmt::format("rows differ in size by a factor of {:.0e}", traits.norm_inf / traits.least_row));
  // Its interval is as long as D^-1 A is large, which is 2 where the diagonal dominates.
  add(PreconditionerType::chebyshev, false,
      (20.0 + degrees / 12.0) * std::sqrt(std::max(traits.scaled_norm / 2.0, 1.0)), "it needs nothing but A");
  if (!can_filter && !varied) add(PreconditionerType::jacobi, false, degrees, "it costs next to nothing");
  if (traits.least_diagonal > 0.0 && !traits.has_hubs()) {
    const double iterations = traits.like_diffusion() ? 18.0 : traits.semidefinite() ? 25.0 : 60.0;
    add(PreconditionerType::amg, false, iterations,
        traits.like_diffusion() ? "rows add up to zero as those of a diffusion do" : "the diagonal is positive");
  }
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
    lowest_ = lowest < 0.0 && !semidefinite_ ? lowest - report.residual_norms.front() : 0.0;
  }
  const std::optional<double> left = cost_to_go(report);
  if (!left) return true;
  current().cost = *left;
  const std::optional<std::size_t> other = best_other();
  return changes_ >= most_changes || !other || *left <= worth_a_change * candidates_[*other].cost;
}

bool EigensolverChoice::change(Limitation limitation) {
  if (limitation == Limitation::none || changes_ >= most_changes) return false;
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
