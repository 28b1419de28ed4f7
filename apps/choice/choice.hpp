#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/choice/cost_model.hpp"
#include "apps/config/config.hpp"
#include "solver/report.hpp"

namespace block_eigs {

/// A way to the result that `auto` may take.
struct Candidate {
  PreconditionerConfig preconditioner{};
  bool filtered = false;  ///< begins with Chebyshev filters
  bool dense = false;     ///< no iterations at all: LAPACK
  double setup = 0.0;     ///< what comes before the first step
  double step = 0.0;      ///< what one iteration costs
  double cost = 0.0;      ///< until all is done: expected before it was tried, predicted from its progress after
  std::string reason{};   ///< why it is taken, after "because"
  /// For one iteration of the first candidate so many of this one are expected, or degrees of its filters, `least`
  /// at least; 0 where that one's progress tells nothing of this one.
  double share = 0.0;
  double least = 0.0;
  bool guessed = false;  ///< hardly anything is known of how many steps it takes
  bool taken = false;    ///< is or was the present one
  /// `cost` at the rate that was seen last, however far that reaches; of one that was taken.
  double at_this_rate = 0.0;
  /// `cost` when it had used up its iterations, which made that infinite; 0 where it had not.
  double cost_with_more = 0.0;
};

/// A way whose cost is known once somebody has been asked, which takes time itself.
struct LateCandidate {
  double least = HUGE_VAL;  ///< what it costs at the least, asking included
  /// Nothing where it cannot be taken. Collective.
  std::function<std::optional<Candidate>()> ask{};
};

/// How progress is judged, which differs from solver to solver.
struct Judgement {
  std::size_t first = 20;  ///< iterations after which a rate is believed
  /// Iterations left are predicted up to so many for each one that was seen.
  double horizon = std::numeric_limits<double>::infinity();
  double degree = 0.0;  ///< what one degree of a filter costs
  double window = 0.0;  ///< columns of a window, where one after the other moves up the spectrum; else 0
  /// Where rates of the first iterations say little: the first candidate is taken unless it is expected to cost
  /// `much` times what another one does, and nothing is set up before the present one has cost as much as that
  /// set-up.
  bool patient = false;
  double much = 1.0;
};

/// The parts of a config that a choice changes by what it sees, as numbers: the kind and the shifts. And back: the
/// rest is that of `like`; too few numbers leave it as it is.
inline constexpr std::size_t chosen_count = 4;
std::vector<double> chosen_numbers(const PreconditionerConfig& config);
PreconditionerConfig with_chosen(const PreconditionerConfig& like, std::span<const double> numbers);

/// Which of several ways is taken with `type: auto`, and whether it is gone on with: the one expected to be the
/// cheapest, until progress makes another one look much cheaper. By replicated numbers, never by a clock: runs
/// repeat, and all ranks decide alike. See docs/theory.md, "auto".
class Choice {
 public:
  /// Of at least one.
  Choice(std::vector<Candidate> candidates, const Judgement& judgement);

  Candidate& current() { return candidates_[at_]; }
  const Candidate& current() const { return candidates_[at_]; }
  /// "amg, because rows add up to zero as those of a diffusion do"
  std::string description() const;
  std::vector<PreconditionerType> taken() const;

  /// Before the first step: factors instead, where they are expected to be cheaper. Collective where it asks.
  void weigh_factors(const LateCandidate& late);
  /// What was seen of progress is forgotten: other vectors are iterated on.
  void begin();
  /// Takes an iteration into account; false when another way is to be taken. `elsewhere` is the cost of one that
  /// is not among the candidates; `late` becomes one where nothing else promises to be as cheap as the least that
  /// it can cost. Collective where it asks.
  bool proceed(const IterationReport& report, double elsewhere = std::numeric_limits<double>::infinity(),
               const LateCandidate& late = {});
  /// After a solve that ended with `limitation`: true when there is another way to go on, which is then current().
  /// Collective where it asks.
  bool change(Limitation limitation, const LateCandidate& late = {});
  bool may_change() const;
  /// Takes factors where they are expected to be cheaper than `instead_of`, what a way would cost that is not
  /// among the candidates; the present one ended with `limitation`. False where they are not, or were taken
  /// before. Collective where it asks.
  bool take_factors(double instead_of, Limitation limitation, const LateCandidate& late);
  /// Takes a dense solver, whatever was changed before; the present way ended with `limitation`.
  void take_dense(double cost, Limitation limitation);
  /// Whether that was taken at some time.
  bool was_dense() const;
  /// Degrees that filters of the present way have spent.
  double degrees_spent() const { return filtered_; }
  /// What the cheapest of the other ways is expected to cost; infinite without one.
  double cheapest_other() const;
  /// What was chosen turned out to be of no use before its first step, for `reason`: the cheapest of the others is
  /// taken. False where there is none.
  bool pass_over(const std::string& reason);
  /// No dense solver is taken: there is no memory for it.
  void do_without_dense();
  /// What was chosen could not be made, and none is at work instead.
  void lose();
  /// All that decisions to come rest on, as numbers.
  std::vector<double> state() const;
  /// Goes on where a choice among the same candidates has left off with `state`, its present one with the shifts
  /// of `present`. Returns what a step costs here over what it cost there.
  double resume(std::span<const double> state, const PreconditionerConfig& present);
  /// After resume(): more iterations are allowed than before, so that ways which had used theirs up may be taken
  /// again, and as many changes made as from the start.
  void allow_more_iterations();
  /// A change to other candidates, for `reason`.
  void replace(std::vector<Candidate> candidates, const Judgement& judgement, const std::string& reason);

 private:
  void take(std::size_t candidate, const std::string& reason);
  void end_present(Limitation limitation);
  double with_windows_to_come(const IterationReport& report, double degrees);
  double growth_of_foresight(double in_all);
  std::optional<double> filter_cost_to_go(const IterationReport& report);
  std::optional<double> cost_to_go(const IterationReport& report);
  std::optional<double> steps_by_pairs(const IterationReport& report);
  bool stands_still() const;
  void expect_of_others(double steps);
  void expect_of_first(double steps);
  bool may_be_set_up(const Candidate& other) const;
  std::optional<std::size_t> best_other() const;
  std::optional<std::size_t> next_way() const;
  bool goes_on(const IterationReport& report, double left, double elsewhere, bool may_ask) const;
  bool unheard(double other) const;
  bool ends_in_time(const IterationReport& report) const;
  bool ends_undone(const IterationReport& report) const;
  std::optional<std::size_t> factors_left() const;
  std::string behind(Limitation limitation) const;
  bool at_last_change() const;
  bool may_ask(const LateCandidate& late) const;
  bool ask(const LateCandidate& late, double expected);

  std::vector<Candidate> candidates_;
  Judgement judgement_;
  std::size_t at_ = 0;
  std::vector<double> progress_;  ///< logarithms of the worst ratio, an iteration each, of the present way
  std::optional<int> converged_before_{};  ///< when the present way began
  bool in_float_ = false;                  ///< progress is that of a phase in float
  bool by_pairs_ = false;                  ///< progress is how many are done
  double filtered_ = 0.0;                  ///< see degrees_spent()
  double foreseen_ = 0.0;                  ///< degrees in all, by the last filter; 0 where it knew of none
  int changes_ = 0;
  double steps_left_ = 0.0;  ///< at the present rate; 0 where none is known
  bool asked_ = false;       ///< the late candidate
};

/// Why multigrid that came to one level is passed over.
inline constexpr const char* no_coarser_level = "amg finds no coarser level here that would pay";

inline constexpr const char* no_memory_for_dense = "there is no memory for a dense matrix";

/// `asked` with another type, its options for the unknowns among those that stay.
PreconditionerConfig of_type(const PreconditionerConfig& asked, PreconditionerType type);

}  // namespace block_eigs
