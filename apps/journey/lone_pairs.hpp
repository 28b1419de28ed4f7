#pragma once

#include <string>
#include <vector>

#include "apps/config/config.hpp"
#include "apps/input/block_input.hpp"
#include "apps/input/problem.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/space/block_space.hpp"

// Eigenpairs of rows that stand alone in A and B, which nobody has to look for: see docs/theory.md, "Rows that
// stand alone".
namespace block_eigs {

/// Those of them that may be wanted, in order; the same on all ranks.
struct LonePairs {
  std::vector<double> values;
  std::vector<GlobalIndex> rows;
  std::vector<double> lengths;   ///< of e_i in the norm of B
  std::int64_t rows_of_all = 0;  ///< that were taken out
  std::int64_t held = 0;         ///< of them, those that a penalty holds
  int wanted = 0;                ///< pairs in the end
  int others = 0;                ///< pairs of the other rows that may be among the wanted ones
};

/// ReadOptions::hold: rows that a penalty holds have the largest eigenvalues, and all of them are taken out. Not
/// collective.
int pairs_to_hold_for(const EigensolverConfig& config);

/// Leaves rows that stand alone out of `space`; problem.lone keeps these. Rows that constraints reach stay, and
/// all do where the problem is solved densely anyway, unless a penalty holds some. Collective.
template <class T>
LonePairs take_out_lone_rows(BlockSpace<T>& space, Problem<T>& problem, const EigensolverConfig& config,
                             const DenseBlock<T>& constraints);

/// `config` for the pairs that are to be looked for still.
RunConfig for_others(RunConfig config, const LonePairs& lone);

/// "10 rows stand alone: their eigenpairs are known"; empty where there are none.
std::string description(const LonePairs& lone);

/// Adds the known pairs to those that were found, for as many as are wanted in the end. Pairs that have not
/// converged stay, because nobody knows what comes before them. Collective.
template <class T>
void add_lone_pairs(BlockSpace<T>& space, const LonePairs& lone, Which which, EigenResult<T>& result);

}  // namespace block_eigs
