#pragma once

#include <string>
#include <vector>

#include "apps/choice/choice.hpp"
#include "apps/choice/cost_model.hpp"
#include "apps/choice/matrix_traits.hpp"
#include "apps/config/config.hpp"
#include "solver/report.hpp"

namespace block_eigs {

/// Which preconditioner the eigensolver takes with `type: auto`, by what the matrix looks like and a model of
/// costs, and whether it goes on with it. See Choice.
class EigensolverChoice {
 public:
  EigensolverChoice(const MatrixTraits& traits, const CostModel& costs, const EigensolverConfig& asked,
                    bool with_mass);

  /// The config with the present choice in place of `auto`.
  EigensolverConfig config() const;
  std::string description() const { return choice_.description(); }

  /// Takes an iteration into account; false when another way is to be taken.
  bool proceed(const IterationReport& report);
  /// After a solve that ended with `limitation`: true when there is another way to go on, which is then config().
  bool change(Limitation limitation);

 private:
  bool clustered() const;
  bool can_widen() const;
  double cost_of_wider() const;
  void widen();

  MatrixTraits traits_;
  CostModel costs_;
  EigensolverConfig asked_;
  bool with_mass_;
  Choice choice_;
  double lowest_ = 0.0;         ///< the lowest Ritz value of late less its residual, where it is negative
  std::vector<double> values_;  ///< of the wanted pairs, of late
  bool widened_ = false;
};

}  // namespace block_eigs
