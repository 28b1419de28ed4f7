#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/choice/choice.hpp"
#include "apps/choice/cost_model.hpp"
#include "apps/choice/direct_candidate.hpp"
#include "apps/choice/matrix_traits.hpp"
#include "apps/config/config.hpp"
#include "solver/report.hpp"

namespace block_eigs {

/// Which preconditioner the eigensolver takes with `type: auto`, by what the matrix looks like and a model of
/// costs, and whether it goes on with it. See Choice.
class EigensolverChoice {
 public:
  EigensolverChoice(const MatrixTraits& traits, const CostModel& costs, const EigensolverConfig& asked,
                    const std::optional<MassTraits>& mass);

  /// The config with the present choice in place of `auto`.
  EigensolverConfig config() const;
  std::string description() const { return choice_.description(); }

  /// All that decisions to come rest on, as numbers.
  std::vector<double> state() const;
  /// Goes on where the choice of a run with the same config has left off with `state`, `present` being its
  /// config().
  void resume(std::span<const double> state, const EigensolverConfig& present);
  /// Of each way, as asked for: filters of the widest block have fewer.
  int max_iterations() const { return (narrower_ ? narrower_->asked : asked_).options.max_iterations; }
  /// See Choice.
  void allow_more_iterations() { choice_.allow_more_iterations(); }

  /// Factors may be among the ways from here on: `analyse` tells what they come to, and is asked once the other
  /// ways look dear.
  void allow_factors(AnalyseFactors analyse) { analyse_ = std::move(analyse); }
  /// Asks `analyse` before anything is made, where that looks worth it already. Orderings of graphs with hubs may
  /// take minutes. Collective.
  void weigh_factors(const AnalyseFactors& analyse) {
    if (!traits_.nearly_full() && !traits_.has_hubs()) choice_.weigh_factors(factors(analyse));
  }

  /// What was seen of progress is forgotten: the preconditioner is another one of the same kind.
  void begin() { choice_.begin(); }
  /// See Choice::pass_over; the multigrid that was chosen finds no coarser level.
  bool pass_over_multigrid() { return choice_.pass_over(no_coarser_level); }
  /// What was chosen could not be made, and none is at work instead.
  void lose() { choice_.lose(); }
  /// What was chosen cannot be made, for `reason`: false where there is no other way.
  bool pass_over(const std::string& reason) { return choice_.pass_over(reason); }
  /// Where there is no memory for a dense solver, before the first step: none is taken.
  void do_without_dense();
  /// Takes an iteration into account; false when another way is to be taken. Collective.
  bool proceed(const IterationReport& report);
  /// After a solve that ended with `limitation`: true when there is another way to go on, which is then config().
  /// Collective.
  bool change(Limitation limitation);
  /// Where there was no memory for a block that change() had made wider: back to the narrower, for good, and true;
  /// false where it was not wider. change() says how it goes on.
  bool narrow();
  /// Where there was no memory for the dense solver that change() had taken: true, and change() goes on with the
  /// cheapest of the others; false where it had not taken one.
  bool pass_over_dense();

 private:
  /// What it was before the block became wider.
  struct Narrower {
    EigensolverConfig asked;
    CostModel costs;
    Choice choice;
  };

  double largest_residual(const IterationReport& report) const;
  double spread() const;
  double rounding() const;
  bool clustered() const;
  bool unresolved() const;
  bool still_growing();
  bool still_falling();
  int wider_block() const;
  bool fits_wider() const;
  double expected_of_wider() const;
  double spent_twice_by_wider() const;
  void widen();
  LateCandidate factors(const AnalyseFactors& analyse) const;
  void count(const IterationReport& report);
  double dense_cost() const;
  bool dense_pays() const;
  bool was_dense() const { return was_dense_ || choice_.was_dense(); }

  MatrixTraits traits_;
  CostModel costs_;
  EigensolverConfig asked_;
  std::optional<MassTraits> mass_;
  Choice choice_;
  AnalyseFactors analyse_{};
  double lowest_ = 0.0;         ///< the lowest Ritz value of late less its residual, where it is negative
  std::vector<double> values_;  ///< of the wanted pairs, of late
  double residual_ = 0.0;       ///< the largest of these, in units of eigenvalues
  std::vector<double> grown_;   ///< the last of them, iteration by iteration, of late
  std::vector<double> fallen_;  ///< residual_ likewise
  std::optional<Narrower> narrower_{};
  double spent_ = 0.0;        ///< on iterations, by all ways
  bool to_dense_ = false;     ///< the present way was ended for a dense solver
  bool was_dense_ = false;    ///< with a narrower or a wider block
  bool passed_over_ = false;  ///< which there was no memory for
  bool may_widen_ = true;
  bool at_widest_ = false;
  bool resume_ = false;  ///< after narrow(): the present way goes on if there is no other
};

}  // namespace block_eigs
