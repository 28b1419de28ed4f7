#pragma once

#include <vector>

#include "solver/lobpcg/lobpcg.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// Of a solve, that a probe may cost by this count: a tenth with its start and end.
constexpr double probe_share = 0.09;

/// The degree of a probe's filter that costs about `share` of the solve with this history, by columns multiplied.
/// Those of the narrow block, of `columns`, count 1.5-fold beside products of filters, which do nothing else;
/// beside iterations they do not. Products without the preconditioner, filters' that is, do not count for a probe
/// that is `preconditioned`. No more than what gives anything, and 0 where hardly anything would be left beside
/// the products for start and end.
int probe_degree(const std::vector<LobpcgIteration>& history, bool preconditioned, LocalIndex columns,
                 double share);

}  // namespace block_eigs
