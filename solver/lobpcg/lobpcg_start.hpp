#pragma once

#include <cstdint>

#include "solver/lobpcg/leading_columns.hpp"
#include "solver/lobpcg/lobpcg_state.hpp"

// What X begins with. All are collective.
namespace block_eigs {

/// The columns at work, and with which locked pair a window ends, for so many pairs.
Window make_window(const LobpcgOptions& options, bool filtered);

/// Constraints become the first deflated vectors, orthonormal; dependent ones are left out.
template <class T>
void take_constraints(const LobpcgRun<T>& run, LobpcgState<T>& state, const DenseBlock<T>& constraints);

/// X: the columns of `initial`, random ones behind them; orthonormal, orthogonal to what is deflated;
/// Rayleigh-Ritz. Columns whose block is gone are those that X's memory begins with. `iterated`: they come from an
/// earlier phase, which has made them orthonormal.
template <class T>
void start_block(const LobpcgRun<T>& run, LobpcgState<T>& state, const LeadingColumns<T>& initial,
                 bool iterated = false);

/// A step on [X D] for directions D of an earlier phase, so that the iteration goes on with its momentum. Columns
/// whose block is gone are those that W's memory begins with.
template <class T>
void take_directions(const LobpcgRun<T>& run, LobpcgState<T>& state, const LeadingColumns<T>& directions);

/// X: the guard vectors that are left, random ones behind them; the window ends at later pairs.
template <class T>
void next_window(const LobpcgRun<T>& run, LobpcgState<T>& state);

/// Draws of random columns in place of dependent ones, before none are expected to be independent.
inline constexpr std::uint64_t most_draws = 5;

/// The seed of such a draw, from 1 on: never that of one which a pair that is locked now has come from.
template <class T>
std::uint64_t seed_of_draw(const LobpcgRun<T>& run, const LobpcgState<T>& state, std::uint64_t draw) {
  return run.options.seed + draw + most_draws * static_cast<std::uint64_t>(state.locked.count());
}

/// Makes the columns of X from `good` on orthonormal, to those before them and to what is deflated too; B X.
/// Dependent ones are replaced by random ones; returns how many. Throws NumericalError where there are no
/// independent ones.
template <class T>
int orthonormalize_x(const LobpcgRun<T>& run, LobpcgState<T>& state, LocalIndex good);

}  // namespace block_eigs
