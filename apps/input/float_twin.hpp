#pragma once

#include "apps/config/config.hpp"
#include "apps/input/preconditioner.hpp"
#include "apps/input/problem.hpp"

namespace block_eigs {

/// A and its preconditioner once more in float, for block_cg_mixed and lobpcg_mixed.
struct FloatTwin {
  Problem<float> problem;
  Preconditioner<float> preconditioner{};
};

/// Consumes problem.a_rows. Collective; throws as make_preconditioner.
FloatTwin make_float_twin(Problem<double>& problem, const RunConfig& config,
                          const PreconditionerConfig& preconditioner);

}  // namespace block_eigs
