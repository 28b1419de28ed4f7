#pragma once

#include <optional>
#include <vector>

#include "apps/choice/eigensolver_choice.hpp"

// Choices to be asked, and iterations for them to judge.
namespace block_eigs::test {

inline EigensolverConfig asked(Which which = Which::smallest) {
  EigensolverConfig config;
  config.options.pairs = 8;
  config.options.block_size = 10;
  config.options.which = which;
  config.options.filtered_start = true;
  return config;
}

inline EigensolverChoice choice_for(const MatrixTraits& traits, const EigensolverConfig& config, double mass = 0.0,
                                    Backend backend = Backend::host, int ranks = 1) {
  std::optional<MassTraits> of_mass;
  if (mass > 0.0) of_mass = MassTraits{1.0, 2.0};
  return {traits, cost_model(traits, mass, config.options.block_size, 8.0, backend, ranks), config, of_mass};
}

inline PreconditionerType type_of(const EigensolverChoice& choice) { return choice.config().preconditioner.type; }

inline IterationReport iteration(double worst, const std::vector<double>& values,
                                 const std::vector<double>& residuals) {
  IterationReport report;
  report.active_columns = report.products = 10;
  report.worst = worst;
  report.eigenvalues = values;
  report.residual_norms = residuals;
  return report;
}

}  // namespace block_eigs::test
