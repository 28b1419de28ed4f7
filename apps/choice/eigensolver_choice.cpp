#include "apps/choice/eigensolver_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/choice/eigen_candidates.hpp"
#include "apps/input/lanczos_options.hpp"
#include "solver/lobpcg/overlap.hpp"
#include "solver/small/lowest_dense_vectors.hpp"

namespace block_eigs {

namespace {

/// Of a cluster of eigenvalues with more members than columns at work the wanted ones are hard to tell from the
/// others; of one that fits into the block they are not. Blocks become so many times wider, up to so many columns
/// and so many bytes of all blocks at work.
constexpr int widening = 8;
constexpr int widest = 128;
constexpr double blocks_at_work = 13.0;
constexpr double most_bytes_for_wider = 1e9;
/// With filters a second time, whose small problems are a third as large: iterations of LOBPCG would be of no use
/// then, and what filters do not do in so many will not be done.
constexpr int widest_with_filters = 512;
constexpr int most_filters_of_widest = 12;

Judgement judgement_of(const CostModel& costs, const EigensolverConfig& asked) {
  const int columns = block_width(asked.options);
  return {.degree = costs.degree(), .window = asked.options.pairs > columns ? 1.0 * columns : 0.0};
}

}  // namespace

EigensolverChoice::EigensolverChoice(const MatrixTraits& traits, const CostModel& costs,
                                     const EigensolverConfig& asked, const std::optional<MassTraits>& mass)
    : traits_(traits),
      costs_(costs),
      asked_(asked),
      mass_(mass),
      choice_(eigen_candidates(traits, mass, costs, asked), judgement_of(costs, asked)) {}

EigensolverConfig EigensolverChoice::config() const {
  EigensolverConfig result = asked_;
  result.preconditioner = choice_.current().preconditioner;
  result.options.dense = choice_.current().dense;
  if (was_dense() && !result.options.dense) result.options.dense_up_to = 0;  // what is undone then stays so
  result.options.filtered_start =
      asked_.options.filtered_start &&
      (choice_.current().filtered || result.preconditioner.type == PreconditionerType::jacobi);
  // Given vectors may be better than float can make them.
  if (result.preconditioner.type == PreconditionerType::amg && exists_in_float(result.preconditioner) &&
      !asked_.initial && !asked_.inner_precision_given)
    result.inner_precision = Precision::float32;
  if (!exists_in_float(result.preconditioner)) result.inner_precision = Precision::float64;
  return result;
}

/// Whether the largest eigenvalues are still being approached by large steps: limits relative to them grow along,
/// and no rate of residuals says anything yet.
bool EigensolverChoice::still_growing() {
  constexpr double large = 1.1;
  constexpr std::size_t steps = 10;
  if (asked_.options.which != Which::largest || values_.empty()) return false;
  grown_.push_back(values_.back());
  if (grown_.size() <= steps) return false;
  grown_.erase(grown_.begin(), grown_.end() - static_cast<std::ptrdiff_t>(steps + 1));
  return grown_.front() > 0.0 && grown_.back() > large * grown_.front();
}

/// Whether residuals fall at a rate that no cluster wider than the block allows for, but copies do of an
/// eigenvalue that is there many times: their values are as far apart as squares of residuals.
bool EigensolverChoice::still_falling() {
  constexpr double half = 0.5;
  constexpr std::size_t steps = 5;
  fallen_.push_back(residual_);
  if (fallen_.size() <= steps) return false;
  fallen_.erase(fallen_.begin(), fallen_.end() - static_cast<std::ptrdiff_t>(steps + 1));
  return fallen_.back() < half * fallen_.front();
}

/// Of a wanted pair at work, in units of eigenvalues.
double EigensolverChoice::largest_residual(const IterationReport& report) const {
  const double last = report.eigenvalues.empty() ? 0.0 : std::abs(report.eigenvalues.back());
  // With B that is the norm of B^-1/2 r, which the limit relative to |lambda| B x stands for.
  if (mass_)
    return asked_.options.convergence == Convergence::relative ? report.worst * asked_.options.tolerance * last
                                                               : 0.0;
  double largest = 0.0;
  for (const double norm : report.residual_norms) largest = norm > largest ? norm : largest;
  return largest;
}

bool EigensolverChoice::proceed(const IterationReport& report) {
  if (!report.eigenvalues.empty() && std::isfinite(report.eigenvalues.front()) &&
      std::isfinite(report.residual_norms.front())) {
    // A positive Ritz value says nothing of that kind, however large its residual is at first.
    const double lowest = report.eigenvalues.front();
    lowest_ = lowest < 0.0 && !traits_.semidefinite() ? lowest - report.residual_norms.front() : 0.0;
  }
  // A window may not have got to the last of them.
  const auto unknown = std::find_if(report.eigenvalues.begin(), report.eigenvalues.end(),
                                    [](double value) { return !std::isfinite(value); });
  values_.assign(report.eigenvalues.begin(), unknown);
  residual_ = largest_residual(report);
  double elsewhere = HUGE_VAL;
  if (!still_falling() && fits_wider() && clustered()) elsewhere = expected_of_wider();
  if (at_widest_) elsewhere = narrower_->choice.cheapest_other();
  const bool growing = still_growing();
  const bool goes_on = choice_.proceed(report, elsewhere, growing ? LateCandidate{} : factors(analyse_));
  count(report);
  to_dense_ = dense_pays();
  return !to_dense_ && (growing || goes_on);
}

void EigensolverChoice::count(const IterationReport& report) {
  const bool filters = report.products > report.active_columns;
  spent_ +=
      filters ? costs_.degree() * report.products / std::max(report.active_columns, 1) : choice_.current().step;
}

double EigensolverChoice::dense_cost() const {
  return block_eigs::dense_cost(traits_, mass_.has_value(), costs_, asked_.options.pairs);
}

/// What a dense solver takes is known, and no more than that is put at risk before it is taken. Larger pencils are
/// not left to it: its rounding errors may hide the wanted values, which iterations find.
bool EigensolverChoice::dense_pays() const {
  const GlobalIndex most = mass_ ? most_rows_of_refined_pencils : std::numeric_limits<int>::max();
  const double cost = dense_cost();
  return traits_.rows <= static_cast<double>(std::min(asked_.options.dense_up_to, most)) && spent_ > cost &&
         choice_.current().cost > cost && !was_dense();
}

LateCandidate EigensolverChoice::factors(const AnalyseFactors& analyse) const {
  // They would be full, and to find that out takes an ordering minutes; or nothing is iterated.
  if (traits_.scale_free() || asked_.options.dense) return {};
  const auto price = [costs = costs_, options = asked_.options,
                      wider = narrower_.has_value()](const factors::FactorSize& size) {
    const double step = costs.iteration() + costs.substitution(size, options.block_size);
    if (starts_by_lanczos(options, static_cast<GlobalIndex>(costs.rows)))
      return WorkWithFactors{step, costs.lanczos(size, lanczos_options(options))};
    // Where the shift is next to the wanted values, which guard vectors see to; the more of these, the sooner.
    const double iterations = wider ? 6.0 : 15.0;
    return WorkWithFactors{step, iterations * step};
  };
  return direct_candidate(costs_, asked_.preconditioner, price, analyse);
}

double EigensolverChoice::spread() const {
  if (values_.empty()) return HUGE_VAL;
  return std::abs(values_.back() - values_[(values_.size() - 1) / 2]);
}

double EigensolverChoice::rounding() const {
  constexpr double share = 1e-13;
  return share * (mass_ ? std::abs(values_.back()) : traits_.norm_inf);
}

/// Whether the later half of the wanted values lie so close together that there may be more of them than columns,
/// but are no eigenvalue that is there many times.
bool EigensolverChoice::clustered() const {
  constexpr double close = 1e-4;
  return std::isfinite(spread()) && spread() <= close * std::abs(values_.back()) && spread() > rounding();
}

/// Whether the later half of the wanted columns mix eigenvectors of neighbours: their intervals overlap, and they
/// are no multiple eigenvalue. Of a single value nothing is known: taken for true.
bool EigensolverChoice::unresolved() const {
  return std::isfinite(spread()) && overlap(spread(), residual_) && (values_.size() < 2 || spread() > rounding());
}

/// Columns that the block may have next.
int EigensolverChoice::wider_block() const {
  const LobpcgOptions& options = asked_.options;
  if (!narrower_ && options.block_size < widest) return std::min(widening * options.block_size, widest);
  const bool filters = !mass_ && options.filtered_start && traits_.norm_inf > 0.0;
  if (!filters) return options.block_size;
  // Wider ones are solved densely.
  constexpr double widest_share = 0.2;
  return static_cast<int>(std::min<double>(widest_with_filters, widest_share * traits_.rows));
}

bool EigensolverChoice::fits_wider() const {
  const int columns = wider_block();
  return may_widen_ && !at_widest_ && !asked_.options.dense && columns > asked_.options.block_size &&
         blocks_at_work * columns / asked_.options.block_size * costs_.block <= most_bytes_for_wider;
}

double EigensolverChoice::expected_of_wider() const {
  EigensolverChoice wider = *this;
  wider.widen();
  return wider.choice_.current().cost;
}

/// What filters have spent without telling values apart, by a wider block, twice: what is left to it takes longer,
/// as a rule by far.
double EigensolverChoice::spent_twice_by_wider() const {
  return 2.0 * choice_.degrees_spent() * costs_.with_columns(wider_block()).degree();
}

void EigensolverChoice::widen() {
  const int wider = wider_block();
  was_dense_ = was_dense();
  if (was_dense_) asked_.options.dense_up_to = 0;
  narrower_.emplace(Narrower{asked_, costs_, choice_});
  costs_ = costs_.with_columns(wider);
  asked_.options.block_size = wider;
  if (asked_.filter == FilterKind::automatic && !basis_pays(traits_.rows / costs_.ranks, wider))
    asked_.options.filter_basis = false;
  std::vector<Candidate> candidates = eigen_candidates(traits_, mass_, costs_, asked_);
  if (wider > widest) {
    std::erase_if(candidates, [](const Candidate& candidate) { return !candidate.filtered; });
    asked_.options.max_iterations = std::min(asked_.options.max_iterations, most_filters_of_widest);
    at_widest_ = true;
  }
  choice_.replace(std::move(candidates), judgement_of(costs_, asked_),
                  fmt::format("eigenvalues lie close together; {} columns", wider));
}

bool EigensolverChoice::change(Limitation limitation) {
  if (std::exchange(passed_over_, false)) return true;
  if (std::exchange(to_dense_, false) && limitation == Limitation::stopped) {
    choice_.take_dense(dense_cost(), limitation);
    return true;
  }
  const bool ended = limitation != Limitation::none && limitation != Limitation::preconditioner;
  // What the widest block has not done is left to others with the one before.
  if (at_widest_ && limitation != Limitation::none) {
    narrow();
    limitation = Limitation::stopped;
  }
  const bool resume = std::exchange(resume_, false);
  const bool may_widen = ended && fits_wider();
  // For a cluster before all other ways; where columns mix neighbours once a way has come to its end, and before
  // those that are expected to cost more by what was seen of them.
  const bool mixed = limitation != Limitation::stopped && unresolved();
  if (may_widen && choice_.may_change() &&
      (clustered() || (mixed && choice_.cheapest_other() > expected_of_wider()))) {
    // What a wider block takes is a guess, and what factors take is not.
    constexpr double doubt = 2.0;
    const double instead_of = std::max(doubt * expected_of_wider(), spent_twice_by_wider());
    if (!choice_.take_factors(instead_of, limitation, factors(analyse_))) widen();
    return true;
  }
  if (!choice_.change(limitation, factors(analyse_))) {
    if (resume || !may_widen || !mixed) return resume;
    widen();
    return true;
  }
  PreconditionerConfig& taken = choice_.current().preconditioner;
  if (taken.type == PreconditionerType::amg && lowest_ < 0.0) taken.amg.shift = 1.05 * lowest_;
  return true;
}

bool EigensolverChoice::narrow() {
  if (!narrower_ || asked_.options.block_size == narrower_->asked.options.block_size) return false;
  was_dense_ = was_dense();
  asked_ = narrower_->asked;
  costs_ = narrower_->costs;
  choice_ = narrower_->choice;
  may_widen_ = at_widest_ = false;
  resume_ = true;
  return true;
}

void EigensolverChoice::do_without_dense() {
  asked_.options.dense_up_to = 0;
  choice_.do_without_dense();
}

bool EigensolverChoice::pass_over_dense() {
  passed_over_ = choice_.current().dense && choice_.pass_over(no_memory_for_dense);
  return passed_over_;
}

}  // namespace block_eigs
