#pragma once

#include "apps/config.hpp"
#include "apps/verify.hpp"
#include "io/result_file.hpp"
#include "solver/lobpcg.hpp"

namespace block_eigs {

/// What a result file says of a solver's result and its verification.
PairsRecord pairs_record(const Verification& verified);
HistoryRecord history_record(const std::vector<LobpcgIteration>& history, int pairs);

}  // namespace block_eigs
