#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/choice/cost_model.hpp"
#include "apps/choice/matrix_traits.hpp"
#include "apps/config/config.hpp"
#include "solver/report.hpp"

namespace block_eigs {

/// A way to the eigenpairs that `auto` may take.
struct Candidate {
  PreconditionerConfig preconditioner;
  bool filtered = false;  ///< by Chebyshev filters, which cost degrees and not iterations
  double cost = 0.0;      ///< until all is done: expected before it was tried, predicted from its progress after
  std::string reason{};   ///< why it is taken, after "because"
};

/// Which preconditioner the eigensolver takes with `type: auto`, and whether it goes on with it: chosen by what
/// the matrix looks like and a model of costs, and changed when progress makes another way look much cheaper. By
/// replicated numbers, never by a clock: runs repeat, and all ranks decide alike. See docs/theory.md, "auto".
class EigensolverChoice {
 public:
  EigensolverChoice(const MatrixTraits& traits, const CostModel& costs, const EigensolverConfig& asked,
                    bool with_mass);

  /// The config with the present choice in place of `auto`.
  EigensolverConfig config() const;
  /// "amg, because rows add up to zero as those of a diffusion do"
  std::string description() const;

  /// Takes an iteration into account; false when another way is to be taken.
  bool proceed(const IterationReport& report);
  /// After a solve that ended with `limitation`: true when there is another way to go on, which is then config().
  bool change(Limitation limitation);

 private:
  void list_candidates();
  bool clustered() const;
  bool can_widen() const;
  double cost_of_wider() const;
  void widen();
  Candidate& current() { return candidates_[at_]; }
  const Candidate& current() const { return candidates_[at_]; }
  std::optional<double> cost_to_go(const IterationReport& report);
  std::optional<std::size_t> best_other() const;
  void take_cheapest();
  void add(PreconditionerType type, bool filtered, double steps, const std::string& reason);

  MatrixTraits traits_;
  EigensolverConfig asked_;
  CostModel costs_;
  bool with_mass_;
  std::vector<Candidate> candidates_;
  std::size_t at_ = 0;
  std::vector<double> progress_;  ///< logarithms of the worst ratio, an iteration each, of the present way
  double spent_ = 0.0;            ///< by filters of the present way
  double lowest_ = 0.0;           ///< the lowest Ritz value of late less its residual, where it is negative
  std::vector<double> values_;    ///< of the wanted pairs, of late
  int changes_ = 0;
  bool widened_ = false;
};

}  // namespace block_eigs
