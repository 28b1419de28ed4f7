#pragma once

#include <vector>

#include "solver/lobpcg/lobpcg.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// Of a solve, that a probe may cost by this count: a tenth with its start and end.
constexpr double probe_share = 0.09;

/// What a probe is, as far as its cost goes.
struct ProbeKind {
  bool preconditioned = false;
  bool in_float = false;   ///< its filter alone, see probes_in_float
  LocalIndex columns = 4;  ///< probe_columns of the solve's precision
};

/// The degree of a probe's filter that costs about `share` of the solve with this history, by columns multiplied,
/// never by a clock. Beside filters, which multiply and do nothing else, those of the narrow block count by the
/// words that move; beside iterations they cost less. A probe that is preconditioned is compared with iterations
/// alone. No more than what gives anything, and 0 where hardly anything would be left beside the products for
/// start and end.
int probe_degree(const std::vector<LobpcgIteration>& history, const ProbeKind& kind, double share);

/// The degree to begin with where a probe is made whatever the solve has cost.
int first_degree(const ProbeKind& kind);
/// That gives anything still.
int most_degree(const ProbeKind& kind);

/// Whether filters, which need no preconditioner, have done most of the work.
bool mostly_filtered(const std::vector<LobpcgIteration>& history);

}  // namespace block_eigs
