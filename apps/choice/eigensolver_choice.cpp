#include "apps/choice/eigensolver_choice.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace block_eigs {

namespace {

/// Of a cluster of eigenvalues with more members than columns at work the wanted ones are hard to tell from the
/// others; of one that fits into the block they are not. Blocks become so many times wider, up to so many columns
/// and so many bytes of all blocks at work.
constexpr int widening = 8;
constexpr int widest = 128;
constexpr double blocks_at_work = 13.0;
constexpr double most_bytes_for_wider = 1e9;

/// Degrees that filters need for the lowest of `rows` eigenvalues of a mesh: the square root of the ratio of the
/// norm to the distances between wanted eigenvalues, which on a mesh of d dimensions goes like a power 1/d of
/// rows over columns.
double expected_degrees(const MatrixTraits& traits, int columns) {
  constexpr double for_one = 25.0;
  if (!traits.like_diffusion()) return 12.0 * for_one;
  return for_one * std::pow(std::max(traits.rows / columns, 1.0), 1.0 / traits.mesh_dimension());
}

/// Costs in iterations of LOBPCG, or degrees of a filter.
class Candidates {
 public:
  Candidates(const CostModel& costs, const PreconditionerConfig& asked) : costs_(costs), asked_(asked) {}

  void add(PreconditionerType type, bool filtered, double steps, const std::string& reason) {
    Candidate candidate{of_type(asked_, type), filtered};
    candidate.setup = costs_.setup(type);
    // What may follow filters are iterations.
    candidate.step = costs_.iteration() + costs_.preconditioner(candidate.preconditioner);
    candidate.cost = candidate.setup + steps * (filtered ? costs_.degree() : candidate.step);
    candidate.reason = reason;
    found_.push_back(std::move(candidate));
  }
  std::vector<Candidate> take() { return std::move(found_); }

 private:
  const CostModel& costs_;
  const PreconditionerConfig& asked_;
  std::vector<Candidate> found_;
};

std::vector<Candidate> candidates_for(const MatrixTraits& traits, const CostModel& costs,
                                      const EigensolverConfig& asked, bool with_mass) {
  Candidates result(costs, asked.preconditioner);
  const LobpcgOptions& options = asked.options;
  const bool can_filter = !with_mass && options.filtered_start && traits.norm_inf > 0.0;
  if (options.which == Which::largest) {
    const char* reason = "one would amplify the lower end of the spectrum";
    if (can_filter) result.add(PreconditionerType::none, true, 100.0, reason);
    result.add(PreconditionerType::none, false, 100.0, reason);
    return result.take();
  }
  const bool varied = traits.badly_scaled() && !traits.reaches_down();
  const double degrees = expected_degrees(traits, options.block_size);
  // Chebyshev preconditioning takes a twelfth of the filters' degrees in iterations of LOBPCG, Jacobi nearly all.
  if (can_filter && !varied) result.add(PreconditionerType::none, true, degrees, "filters need nothing but A");
  if (can_filter && varied) {
    result.add(PreconditionerType::jacobi, false, degrees, traits.differing_rows());
    // Filters have one norm for all rows.
    const double factor = traits.norm_inf / traits.least_row;
    result.add(PreconditionerType::none, true, degrees * std::sqrt(factor / 100.0), "filters need nothing but A");
  }
  // Its interval is as long as D^-1 A is large, which is 2 where the diagonal dominates.
  result.add(PreconditionerType::chebyshev, false,
             (20.0 + degrees / 12.0) * std::sqrt(std::max(traits.scaled_norm / 2.0, 1.0)),
             "it needs nothing but A");
  if (!can_filter && !varied) result.add(PreconditionerType::jacobi, false, degrees, "it costs next to nothing");
  if (traits.least_diagonal > 0.0 && !traits.has_hubs()) {
    const double iterations = traits.like_diffusion() ? 18.0 : traits.semidefinite() ? 25.0 : 60.0;
    result.add(PreconditionerType::amg, false, iterations, traits.reason_for_multigrid());
  }
  return result.take();
}

}  // namespace

EigensolverChoice::EigensolverChoice(const MatrixTraits& traits, const CostModel& costs,
                                     const EigensolverConfig& asked, bool with_mass)
    : traits_(traits),
      costs_(costs),
      asked_(asked),
      with_mass_(with_mass),
      choice_(candidates_for(traits, costs, asked, with_mass), {.degree = costs.degree()}) {}

EigensolverConfig EigensolverChoice::config() const {
  EigensolverConfig result = asked_;
  result.preconditioner = choice_.current().preconditioner;
  result.options.filtered_start =
      asked_.options.filtered_start &&
      (choice_.current().filtered || result.preconditioner.type == PreconditionerType::jacobi);
  // Given vectors may be better than float can make them.
  if (result.preconditioner.type == PreconditionerType::amg && exists_in_float(result.preconditioner) &&
      !asked_.initial)
    result.inner_precision = Precision::float32;
  return result;
}

bool EigensolverChoice::proceed(const IterationReport& report) {
  if (!report.eigenvalues.empty() && std::isfinite(report.eigenvalues.front()) &&
      std::isfinite(report.residual_norms.front())) {
    // A positive Ritz value says nothing of that kind, however large its residual is at first.
    const double lowest = report.eigenvalues.front();
    lowest_ = lowest < 0.0 && !traits_.semidefinite() ? lowest - report.residual_norms.front() : 0.0;
  }
  values_.assign(report.eigenvalues.begin(), report.eigenvalues.end());
  return choice_.proceed(report, cost_of_wider());
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
  return !widened_ && choice_.may_change() && clustered() && options.pairs <= options.block_size &&
         options.block_size < widest &&
         blocks_at_work * widest / options.block_size * costs_.block <= most_bytes_for_wider;
}

double EigensolverChoice::cost_of_wider() const {
  if (!can_widen()) return HUGE_VAL;
  EigensolverChoice wider = *this;
  wider.widen();
  return wider.choice_.current().cost;
}

void EigensolverChoice::widen() {
  int& columns = asked_.options.block_size;
  const int wider = std::min(widening * columns, widest);
  costs_.block *= static_cast<double>(wider) / columns;
  columns = wider;
  widened_ = true;
  choice_.replace(candidates_for(traits_, costs_, asked_, with_mass_), {.degree = costs_.degree()},
                  fmt::format("eigenvalues lie close together; {} columns", wider));
}

bool EigensolverChoice::change(Limitation limitation) {
  const bool may_widen = limitation != Limitation::none && limitation != Limitation::preconditioner;
  if (may_widen && can_widen()) {
    widen();
    return true;
  }
  if (!choice_.change(limitation)) return false;
  PreconditionerConfig& taken = choice_.current().preconditioner;
  if (taken.type == PreconditionerType::amg && lowest_ < 0.0) taken.amg.shift = 1.05 * lowest_;
  return true;
}

}  // namespace block_eigs
