#pragma once

#include "apps/in_memory/run_answer.hpp"
#include "apps/report/advice_solve.hpp"
#include "spmm/device/profile.hpp"

namespace block_eigs {

/// Where the time of this rank went, if that was asked for. Not collective.
inline void note_phases(Profile& profile, RunNotes& notes) {
  if (!profile.is_started()) return;
  for (int i = 0; i < static_cast<int>(Phase::count); ++i) {
    const auto phase = static_cast<Phase>(i);
    notes.phases.emplace_back(name_of(phase), profile.seconds(phase));
  }
}

inline void note_advice(const Advice& advice, RunNotes& notes) {
  notes.advice_reason = advice.reason;
  notes.advice_change = advice.change;
  notes.advice_other = advice.other;
}

}  // namespace block_eigs
