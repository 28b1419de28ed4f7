#pragma once

#include <vector>

#include "solver/lobpcg/lobpcg.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// The degree of a probe's filter that costs about `share` of the solve with this history, by columns multiplied,
/// those of the narrow block, of `columns`, counted twice; products without the preconditioner, filters' that is,
/// do not count for a probe that is `preconditioned`. No more than what gives anything, and 0 where hardly
/// anything would be left beside the products for start and end.
int probe_degree(const std::vector<LobpcgIteration>& history, bool preconditioned, LocalIndex columns,
                 double share);

}  // namespace block_eigs
