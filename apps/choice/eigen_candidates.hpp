#pragma once

#include <optional>
#include <vector>

#include "apps/choice/choice.hpp"
#include "apps/choice/cost_model.hpp"
#include "apps/choice/matrix_traits.hpp"
#include "apps/config/config.hpp"

namespace block_eigs {

/// The ways to the eigenpairs that `asked` wants of a matrix that looks like `traits`, with a mass matrix that
/// looks like `mass` or none, each with what it is expected to cost. `costs` for blocks of
/// asked.options.block_size columns. At least one. See docs/theory.md, "auto".
std::vector<Candidate> eigen_candidates(const MatrixTraits& traits, const std::optional<MassTraits>& mass,
                                        const CostModel& costs, const EigensolverConfig& asked);

/// What a dense solver costs for so many pairs. Vectors of short pencils, and of short rows that differ in size,
/// may all be refined (lowest_dense_vectors).
double dense_cost(const MatrixTraits& traits, bool with_mass, const CostModel& costs, int pairs);

}  // namespace block_eigs
