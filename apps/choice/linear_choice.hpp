#pragma once

#include <cmath>
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

/// Which preconditioner the linear solver takes with `type: auto`, by what the matrix looks like, the number of
/// right-hand sides and a model of costs, and whether it goes on with it. See Choice.
class LinearSolverChoice {
 public:
  /// `costs` for blocks of linear_columns() columns.
  LinearSolverChoice(const MatrixTraits& traits, const CostModel& costs, const LinearSolverConfig& asked,
                     GlobalIndex right_hand_sides);

  /// Another block of as many right-hand sides, with other limits perhaps.
  void ask(const LinearSolverConfig& asked) { asked_ = asked; }
  /// The config with the present choice in place of `auto`.
  LinearSolverConfig config() const;
  std::string description() const { return choice_.description(); }
  /// What was taken so far, the present choice included.
  std::vector<PreconditionerType> taken() const { return choice_.taken(); }

  /// As EigensolverChoice::allow_factors.
  void allow_factors(AnalyseFactors analyse) { analyse_ = std::move(analyse); }

  /// All that decisions to come rest on, as numbers; and to go on from there, see Choice::resume.
  std::vector<double> state() const { return choice_.state(); }
  void resume(std::span<const double> state, const PreconditionerConfig& present) {
    choice_.resume(state, present);
  }
  void allow_more_iterations() { choice_.allow_more_iterations(); }

  /// As another block of right-hand sides begins.
  void begin() { choice_.begin(); }
  /// See Choice::pass_over; the multigrid that was chosen finds no coarser level.
  bool pass_over_multigrid() { return choice_.pass_over(no_coarser_level); }
  /// What was chosen could not be made, and none is at work instead.
  void lose() { choice_.lose(); }
  /// Takes an iteration into account; false when another way is to be taken.
  bool proceed(const IterationReport& report) { return choice_.proceed(report, HUGE_VAL, factors()); }
  /// After a block that ended with `limitation`: true when there is another way to go on, which is then config().
  /// `has_solved`: half or more of this block or an earlier one. Factors that have stay for the others: nothing
  /// else comes closer to what the arithmetic allows.
  bool change(Limitation limitation, bool has_solved = false);

 private:
  LateCandidate factors() const;

  LinearSolverConfig asked_;
  CostModel costs_;
  double columns_;
  bool scale_free_;  ///< factors of A would be full
  Choice choice_;
  AnalyseFactors analyse_{};
};

/// Columns that costs are counted for: products with fewer than three take as long as with three.
int linear_columns(const LinearSolverConfig& config, GlobalIndex right_hand_sides);

}  // namespace block_eigs
