#pragma once

#include "solver/lobpcg/leading_columns.hpp"
#include "solver/lobpcg/lobpcg_state.hpp"

// Ways through the whole iteration: start, filters, loop, and what comes of it. All are collective.
namespace block_eigs {

/// What a phase came to that nobody verified.
template <class T>
struct UnverifiedVectors {
  LeadingColumns<T> vectors{};               ///< approximate eigenvectors: the pairs, then guard vectors
  LeadingColumns<T> directions{};            ///< in which they were moving, or none
  std::optional<SpectrumBounds> spectrum{};  ///< see LobpcgState
  bool iterated = false;                     ///< by a phase before this one; else they are what the caller gave
  double setup_seconds = 0.0;                ///< until the iteration began; 0 where there was none
};

/// For another phase to go on with. run.phase.verified is false.
template <class T>
UnverifiedVectors<T> iterate_unverified(const LobpcgRun<T>& run, const DenseBlock<T>* constraints,
                                        DenseBlock<T> initial);

/// From start vectors, or from what an earlier phase came to, to pairs whose residuals were computed anew from A
/// and B. Pairs that fail this check go back to work, at most three times.
template <class T>
EigenResult<T> iterate_verified(const LobpcgRun<T>& run, const DenseBlock<T>* constraints,
                                UnverifiedVectors<T> initial);

/// Windows of columns that it takes to get to all pairs; 1 where the block holds them.
int window_count(const LobpcgOptions& options, bool filtered);
/// options.max_iterations for every one of them.
Budget iteration_budget(const LobpcgOptions& options, bool filtered);

}  // namespace block_eigs
