#pragma once

#include <array>
#include <string>
#include <vector>

#include "spmm/parallel/communicator.hpp"
#include "spmm/types.hpp"

namespace block_eigs::bench {

/// What of the solvers is measured, on Laplacians of boxes.
struct ScalingOptions {
  std::string device = "auto";
  std::string halo = "auto";
  std::vector<std::string> solvers;  ///< lobpcg, chebyshev, filter, amg, cg
  GlobalIndex grid = 128;            ///< edge of the cube on one rank
  int points = 7;
  int columns = 16;     ///< of the block
  int iterations = 20;  ///< of a run
  int repeats = 5;
  std::vector<std::string> kinds = {"share", "strong", "weak"};  ///< ScalingFigures::kind, beside base
};

/// Iterations of a solver on so many ranks, of "filter" products of A with the block. Everything but rows and
/// seconds is of an iteration of the rank with most.
struct ScalingFigures {
  std::string solver;
  std::string kind;  ///< base: one rank; share: one rank with one's rows of them; strong: the same matrix on all;
                     ///< weak: as many rows a rank
  int ranks = 1;
  GlobalIndex rows = 0;
  double seconds = 0.0;     ///< the median of the repeats
  double efficiency = 1.0;  ///< base / (ranks x strong), base / weak
  double halos = 0.0;       ///< exchanges
  double messages = 0.0;
  double halo_bytes = 0.0;         ///< received
  double halo_wait = 0.0;          ///< seconds that products wait for ghosts
  double reductions = 0.0;         ///< collective calls
  double reduction_seconds = 0.0;  ///< waiting for other ranks included
};

/// Base and the kinds asked for of every solver, as they come. Collective; throws InputError for unknown solvers.
std::vector<ScalingFigures> measure_solvers(const Communicator& comm, const ScalingOptions& options);

/// Seconds of a sum of `values` doubles over the ranks, the median of many. Collective.
double sum_seconds(const Communicator& comm, std::size_t values);

/// Of the figures, for people.
std::string scaling_table(const std::vector<ScalingFigures>& figures);

}  // namespace block_eigs::bench
