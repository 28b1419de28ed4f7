#pragma once

#include <cstdint>

#include "apps/config/config.hpp"
#include "apps/input/problem.hpp"

namespace block_eigs {

/// Host memory of this process in bytes, from /proc/self/status; 0 where there is no such file. Not collective.
double resident_now();
double resident_peak();

/// Bytes of the calling rank.
struct MemoryEstimate {
  double host = 0.0;    ///< peak of the process
  double device = 0.0;  ///< on a GPU; 0 on the host backend
  double vectors = 0.0;
  double matrix = 0.0;
  double halo = 0.0;
};

/// What the eigensolver will need on this rank, asked when the matrices are in memory: with b = block_size
/// columns, 8 b vectors of own rows (+ 3 b with B, + b with Chebyshev, 4 b with AMG), the locked pairs and
/// constraints (twice with B), ghost rows sent and received, small dense problems of order 3 b on rank 0, and what
/// the process holds already. Where reading took more than that, its peak stands. Not collective.
template <class T>
MemoryEstimate estimate_memory(const Problem<T>& problem, const EigensolverConfig& config, int constraints);

/// The same for the linear solver, its right-hand sides (and initial guess) in memory: these, the solution, 3 b
/// vectors of own rows (+ b with a preconditioner, + b with Chebyshev, 4 b with AMG, + b with an initial guess,
/// + b where there are more right-hand sides than b = block_size) and ghost rows. Not collective.
template <class T>
MemoryEstimate estimate_memory(const Problem<T>& problem, const LinearSolverConfig& config, int right_hand_sides);

}  // namespace block_eigs
