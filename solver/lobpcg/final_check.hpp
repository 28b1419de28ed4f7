#pragma once

#include <vector>

#include "solver/lobpcg/lobpcg_loop.hpp"
#include "solver/lobpcg/lobpcg_state.hpp"

// All are collective.
namespace block_eigs {

/// What is true of the locked vectors, in the order of the eigenvalues asked for: Rayleigh quotients and residuals
/// with A x computed anew.
struct FinalCheck {
  RitzPairs pairs;
  std::vector<int> columns;  ///< of the locked vectors, by pair
  std::vector<int> failed;   ///< wanted pairs above their limit

  /// Wanted pairs at hand: fewer than asked for where a window did not get to the others.
  int found(int wanted) const { return wanted < pairs.count() ? wanted : pairs.count(); }
};

/// X joins the locked vectors. These are made orthonormal where V^T B V shows that they are not, copies of others
/// giving way to random vectors, then A V is computed anew, as many columns at a time as the panels hold. With
/// `rotate`, and where windows ask for it, they become the Ritz vectors of all they span. Uses the storage of X
/// and R.
template <class T>
FinalCheck check_locked(const LobpcgRun<T>& run, LobpcgState<T>& state, bool rotate = false);

/// The failed pairs, or those without an answer yet, and the guard vectors become X again.
template <class T>
void reopen(const LobpcgRun<T>& run, LobpcgState<T>& state, const FinalCheck& check);

/// The pairs asked for, as far as they are there.
template <class T>
void write_result(const LobpcgRun<T>& run, LobpcgState<T>& state, const FinalCheck& check, EigenResult<T>& result);

}  // namespace block_eigs
