#include "apps/choice/choice.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "apps/input/preconditioner.hpp"

namespace block_eigs {

namespace {

/// Another way must be expected to be so much cheaper than what is left of this one.
constexpr double worth_a_change = 1.5;
/// And filters must have cost so much of what the other one is expected to: what they foresee at first is too much
/// by far where eigenvalues are there many times, and no more is lost by listening.
constexpr double hearing = 0.25;
/// Where one way has failed, or nothing but a guess is had of the first, factors, whose cost is known, may cost so
/// many times what is expected of a way that has not been tried.
constexpr double worth_knowing = 2.0;
/// Factors may cost so many times what other ways are expected to where these had three chances.
constexpr double worth_certainty = 10.0;
/// Rates of conjugate gradients are off by as much at first, and to ask takes as long as many of their iterations.
constexpr double doubt_of_rates = 3.0;
constexpr int most_changes = 4;
/// At least so many are left to new candidates.
constexpr int changes_after_replacement = 2;
/// Iterations that the rate of late is measured over.
constexpr std::size_t rate_window = 10;
/// One that does not come forward is taken to need all iterations that it may have.
constexpr double endless = 1e6;

std::size_t cheapest(const std::vector<Candidate>& candidates) {
  const auto best = std::min_element(candidates.begin(), candidates.end(),
                                     [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
  return static_cast<std::size_t>(best - candidates.begin());
}

/// As the reason of another way names the one before it.
std::string way_of(const Candidate& candidate) {
  if (candidate.dense) return "a dense solver";
  if (candidate.preconditioner.type != PreconditionerType::none)
    return block_eigs::description(candidate.preconditioner);
  return candidate.filtered ? "filtering" : "iterating without one";
}

}  // namespace

PreconditionerConfig of_type(const PreconditionerConfig& asked, PreconditionerType type) {
  PreconditionerConfig result = asked;
  result.type = type;
  return result;
}

Choice::Choice(std::vector<Candidate> candidates, const Judgement& judgement)
    : candidates_(std::move(candidates)), judgement_(judgement), at_(cheapest(candidates_)) {
  if (judgement_.patient && candidates_.front().cost <= judgement_.much * candidates_[at_].cost) at_ = 0;
  current().taken = true;
}

std::string Choice::description() const {
  if (current().dense) return fmt::format("none, a dense solver instead, because {}", current().reason);
  return fmt::format("{}{}, because {}", block_eigs::description(current().preconditioner),
                     current().filtered ? " with filters" : "", current().reason);
}

std::vector<PreconditionerType> Choice::taken() const {
  std::vector<PreconditionerType> types;
  for (const Candidate& candidate : candidates_) {
    if (candidate.taken) types.push_back(candidate.preconditioner.type);
  }
  return types;
}

void Choice::begin() {
  progress_.clear();
  converged_before_.reset();
  by_pairs_ = false;
  filtered_ = 0.0;
  foreseen_ = 0.0;
  steps_left_ = 0.0;
}

/// From what filters say themselves. While these cannot say anything, as much as they have cost already.
std::optional<double> Choice::filter_cost_to_go(const IterationReport& report) {
  progress_.clear();
  const double columns = std::max(report.active_columns, 1);
  filtered_ += report.products / columns;
  double degrees = std::isnan(report.products_to_come) ? filtered_ : report.products_to_come / columns;
  if (judgement_.window > 0.0) {
    degrees = with_windows_to_come(report, degrees);
  } else {
    degrees *= growth_of_foresight(std::isnan(report.products_to_come) ? 0.0 : filtered_ + degrees);
  }
  // A degree brings about as much as an iteration with Jacobi.
  if (at_ == 0) expect_of_others(degrees);
  return degrees * judgement_.degree;
}

/// How much more is expected of filters than these foresee, `in_all`, or 0 where they do not: Ritz values that
/// still fall lead them to foresee too little, and as much more as each time before will be found the next time.
double Choice::growth_of_foresight(double in_all) {
  constexpr double most = 2.0;
  const double before = std::exchange(foreseen_, in_all);
  return before > 0.0 && in_all > before ? std::min(in_all / before, most) : 1.0;
}

/// Filters foresee their own window, in `degrees`: all that is left by how many pairs are done, once these are
/// half a window; before that as much for each window.
double Choice::with_windows_to_come(const IterationReport& report, double degrees) {
  const double done = report.converged;
  const double left = report.wanted - report.converged;
  if (2.0 * done >= judgement_.window) return filtered_ * left / done;
  return degrees + (filtered_ + degrees) * std::max(0.0, left / judgement_.window - 1.0);
}

/// Where columns of pairs that are done go on with others that wait for them, the worst at work is always one that
/// has just begun: what comes forward is how many are done.
/// They are done in bunches: NaN where too few of them are to tell a rate.
std::optional<double> Choice::steps_by_pairs(const IterationReport& report) {
  if (!converged_before_) converged_before_ = report.converged;
  const int done = report.converged - *converged_before_;
  const int left = report.wanted - report.converged;
  if (done <= 0 || left <= report.active_columns) return std::nullopt;
  const bool telling = 2 * done >= report.active_columns || progress_.size() >= 2 * judgement_.first;
  return telling ? static_cast<double>(progress_.size() + 1) * left / done
                 : std::numeric_limits<double>::quiet_NaN();
}

/// Whether the later half of many iterations has brought nothing: what was fast before says nothing of the next
/// ones. Not of linear systems, whose residuals may stand for long before they fall.
bool Choice::stands_still() const {
  constexpr std::size_t many = 60;
  if (judgement_.patient || progress_.size() < many || !(progress_.back() > 0.0)) return false;
  const auto half = progress_.begin() + static_cast<std::ptrdiff_t>(progress_.size() / 2);
  return *std::min_element(progress_.begin(), half) <= *std::min_element(half, progress_.end());
}

/// From the rate of the iterations so far or of the last ones, whichever is better (float ends in a plateau).
std::optional<double> Choice::cost_to_go(const IterationReport& report) {
  if (report.products > report.active_columns) return filter_cost_to_go(report);
  // Its limits are others, and what it came to says nothing of what comes after.
  if (std::exchange(in_float_, report.in_float) != report.in_float) progress_.clear();
  const std::optional<double> by_pairs = steps_by_pairs(report);
  // With the last of them at work, residuals tell the rate again.
  if (!by_pairs && by_pairs_) {
    progress_.clear();
    converged_before_ = report.converged;
  }
  by_pairs_ = by_pairs.has_value();
  progress_.push_back(std::log(std::max(report.worst, 1.0)));
  if (progress_.size() < judgement_.first || (by_pairs && std::isnan(*by_pairs))) return std::nullopt;
  const auto steps = static_cast<double>(progress_.size() - 1);
  const double best = *std::min_element(progress_.begin(), progress_.end());
  const double of_all = (progress_.front() - best) / steps;
  const double of_last =
      (progress_[progress_.size() - 1 - rate_window] - progress_.back()) / static_cast<double>(rate_window);
  const double rate = stands_still() ? of_last : std::max(of_all, of_last);
  double left = rate > 0.0 ? std::min(best / rate, endless) : endless;
  if (by_pairs) left = *by_pairs;
  steps_left_ = left;
  current().at_this_rate = left * current().step;
  left = std::min(left, judgement_.horizon * static_cast<double>(progress_.size()));
  if (at_ == 0) expect_of_others(left);
  expect_of_first(left);
  return left * current().step;
}

bool Choice::may_be_set_up(const Candidate& other) const {
  return !judgement_.patient || static_cast<double>(progress_.size()) * current().step >= other.setup;
}

void Choice::expect_of_others(double steps) {
  for (Candidate& other : candidates_) {
    if (other.share > 0.0 && !other.taken)
      other.cost = other.setup +
                   std::max(other.least, other.share * steps) * (other.filtered ? judgement_.degree : other.step);
  }
}

/// The first one needs as many more as this one needs fewer: a slow start of the one is no reason for the other.
void Choice::expect_of_first(double steps) {
  Candidate& first = candidates_.front();
  if (at_ == 0 || first.taken || !(current().share > 0.0)) return;
  first.cost = std::max(first.cost, first.setup + steps / current().share * first.step);
}

std::optional<std::size_t> Choice::best_other() const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (i != at_ && (!best || candidates_[i].cost < candidates_[*best].cost)) best = i;
  }
  return best;
}

/// The cheapest of the others; where that was not tried, factors that are not much dearer than what is expected of
/// it; where it was left before, factors that are cheaper than all it would take at its
/// own rate, or any where the present one will not come to its end or no other change is left.
std::optional<std::size_t> Choice::next_way() const {
  const std::optional<std::size_t> best = best_other();
  const std::optional<std::size_t> factors = factors_left();
  if (!best || !factors) return best;
  if (at_last_change() && candidates_[*factors].cost < worth_certainty * candidates_[*best].cost) return factors;
  if (candidates_[*best].dense) return best;
  if (!candidates_[*best].taken)
    return candidates_[*factors].cost < worth_knowing * candidates_[*best].cost ? factors : best;
  const double most = current().cost == HUGE_VAL ? HUGE_VAL : candidates_[*best].at_this_rate;
  return candidates_[*factors].cost < most ? factors : best;
}

/// Whether the iterations that are left will do, at the present rate.
bool Choice::ends_in_time(const IterationReport& report) const {
  return steps_left_ <= report.last_iteration - report.iteration;
}

/// Whether half of the iterations are used up, and the others will not do.
bool Choice::ends_undone(const IterationReport& report) const {
  return report.last_iteration > 0 && 2 * report.iteration >= report.last_iteration && !ends_in_time(report);
}

/// Factors that were priced and not taken yet.
std::optional<std::size_t> Choice::factors_left() const {
  const auto found = std::find_if(candidates_.begin(), candidates_.end(), [](const Candidate& candidate) {
    return candidate.preconditioner.type == PreconditionerType::direct && !candidate.taken;
  });
  if (found == candidates_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - candidates_.begin());
}

bool Choice::at_last_change() const { return changes_ + 1 == most_changes; }

bool Choice::may_ask(const LateCandidate& late) const { return !asked_ && late.ask; }

/// What holds up factors of A - sigma B holds up other ways more: while they come to the end in time they are not
/// left for any of these. Where they hardly come forward, rows of very different size may be why, which sigma does
/// not know and others do. The last change is not spent on what was left before, nor on anything else while
/// factors have not been asked for: they may be all that is left.
bool Choice::goes_on(const IterationReport& report, double left, double elsewhere, bool may_ask) const {
  if (!may_change()) return true;
  if (current().preconditioner.type == PreconditionerType::direct && ends_in_time(report)) return true;
  const std::optional<std::size_t> other = best_other();
  const bool kept = at_last_change() && (may_ask || (other && candidates_[*other].taken));
  if (other && !kept && may_be_set_up(candidates_[*other]))
    elsewhere = std::min(elsewhere, candidates_[*other].cost);
  return unheard(elsewhere) || left <= worth_a_change * elsewhere;
}

/// Whether filters have spent too little for what they foresee to be held against what another way costs.
bool Choice::unheard(double other) const {
  return progress_.empty() && filtered_ * judgement_.degree < hearing * other;
}

/// Whether it is among the candidates now: not where `expected` by other ways is too little for it to pay.
bool Choice::ask(const LateCandidate& late, double expected) {
  const double margin = judgement_.patient ? doubt_of_rates : worth_a_change;
  if (!may_ask(late) || !(expected > margin * late.least)) return false;
  asked_ = true;
  std::optional<Candidate> candidate = late.ask();
  if (candidate) candidates_.push_back(std::move(*candidate));
  return candidate.has_value();
}

bool Choice::proceed(const IterationReport& report, double elsewhere, const LateCandidate& late) {
  const std::optional<double> left = cost_to_go(report);
  if (!left) return true;
  current().cost = *left;
  const bool stays = goes_on(report, *left, elsewhere, may_ask(late));
  const double expected = stays ? *left : std::min(worth_knowing * cheapest_other(), elsewhere);
  if (!may_change()) return stays;
  if (!unheard(late.least) && ask(late, expected)) return goes_on(report, *left, elsewhere, false);
  if (!stays || !ends_undone(report) || !(ask(late, HUGE_VAL) || factors_left())) return stays;
  current().cost = HUGE_VAL;
  return false;
}

bool Choice::may_change() const { return changes_ < most_changes; }

double Choice::cheapest_other() const {
  const std::optional<std::size_t> other = best_other();
  return other ? candidates_[*other].cost : HUGE_VAL;
}

void Choice::take(std::size_t candidate, const std::string& reason) {
  at_ = candidate;
  begin();
  current().taken = true;
  current().reason = reason;
}

bool Choice::was_dense() const {
  return std::any_of(candidates_.begin(), candidates_.end(),
                     [](const Candidate& candidate) { return candidate.dense && candidate.taken; });
}

bool Choice::pass_over(const std::string& reason) {
  const std::optional<std::size_t> other = best_other();
  if (!other || candidates_[*other].cost == HUGE_VAL) return false;
  current().cost = HUGE_VAL;
  take(*other, reason);
  return true;
}

void Choice::do_without_dense() {
  for (Candidate& candidate : candidates_) {
    if (candidate.dense) candidate.cost = HUGE_VAL;
  }
  if (current().dense) pass_over(no_memory_for_dense);
}

void Choice::lose() { current().preconditioner.type = PreconditionerType::none; }

void Choice::replace(std::vector<Candidate> candidates, const Judgement& judgement, const std::string& reason) {
  candidates_ = std::move(candidates);
  judgement_ = judgement;
  changes_ = std::min(changes_ + 1, most_changes - changes_after_replacement);
  asked_ = false;
  take(cheapest(candidates_), reason);
}

void Choice::weigh_factors(const LateCandidate& late) {
  const double instead_of = (current().guessed ? worth_knowing : 1.0) * current().cost;
  if (!ask(late, worth_a_change * instead_of)) return;  // nothing is given up for them yet
  const std::optional<std::size_t> factors = factors_left();
  if (!factors || candidates_[*factors].cost >= instead_of) return;
  current().taken = false;
  take(*factors, candidates_[*factors].reason);
}

bool Choice::take_factors(double instead_of, Limitation limitation, const LateCandidate& late) {
  if (!may_change()) return false;
  ask(late, instead_of);
  const std::optional<std::size_t> factors = factors_left();
  if (!factors || !(candidates_[*factors].cost < instead_of)) return false;
  end_present(limitation);
  ++changes_;
  take(*factors, candidates_[*factors].reason);
  return true;
}

/// A way that has come to its end is not taken again.
void Choice::end_present(Limitation limitation) {
  if (limitation == Limitation::stopped) return;
  if (limitation == Limitation::iterations && current().cost < HUGE_VAL) current().cost_with_more = current().cost;
  current().cost = HUGE_VAL;
}

void Choice::allow_more_iterations() {
  for (Candidate& candidate : candidates_) {
    const double cost = std::exchange(candidate.cost_with_more, 0.0);
    if (cost > 0.0) candidate.cost = cost;
  }
  changes_ = 0;
}

bool Choice::change(Limitation limitation, const LateCandidate& late) {
  if (limitation == Limitation::none || !may_change()) return false;
  const std::optional<std::size_t> likely = best_other();
  const bool known = likely && candidates_[*likely].taken;
  // What has come to its end says less than what was too slow.
  const double doubt = worth_knowing * (limitation == Limitation::stopped ? worth_a_change : 1.0);
  ask(late, at_last_change() ? HUGE_VAL : known ? candidates_[*likely].at_this_rate : doubt * cheapest_other());
  const std::optional<std::size_t> next = next_way();
  end_present(limitation);
  if (!next || candidates_[*next].cost == HUGE_VAL) return false;
  ++changes_;
  take(*next, behind(limitation));
  return true;
}

/// The reason of the way after the present one, which ended with `limitation`.
std::string Choice::behind(Limitation limitation) const {
  return way_of(current()) + (limitation == Limitation::preconditioner ? " is not positive definite here"
                              : limitation == Limitation::stopped      ? " comes forward too slowly"
                                                                       : " did not come to the end");
}

void Choice::take_dense(double cost, Limitation limitation) {
  const std::string reason = behind(limitation);
  auto dense = std::find_if(candidates_.begin(), candidates_.end(),
                            [](const Candidate& candidate) { return candidate.dense; });
  if (dense == candidates_.end()) {
    Candidate added{of_type(current().preconditioner, PreconditionerType::none)};
    added.dense = true;
    added.step = added.cost = cost;
    dense = candidates_.insert(candidates_.end(), std::move(added));
  }
  take(static_cast<std::size_t>(dense - candidates_.begin()), reason);
}

}  // namespace block_eigs
