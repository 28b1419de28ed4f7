#pragma once

#include <vector>

#include "solver/lobpcg/ritz_pairs.hpp"

namespace block_eigs {

/// The order of `all` by values, the pairs asked for first. Where the last value asked for is a multiple one,
/// rounding errors decide whether a guard vector comes before a pair that has converged: it gives way to that, if
/// their values cannot be told apart by residuals that would do.
std::vector<int> wanted_order(const LobpcgOptions& options, const ResidualTest& test, const RitzPairs& all);

}  // namespace block_eigs
