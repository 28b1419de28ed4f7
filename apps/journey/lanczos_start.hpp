#pragma once

#include "apps/input/problem.hpp"
#include "apps/journey/eigensolve.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/report.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/dense_block.hpp"

namespace block_eigs {

/// Vectors for LOBPCG to begin with where the operators of `solver` are factors of A - sigma B, sigma beyond the
/// wanted end, and its block holds all pairs: by block_lanczos(), which needs some times fewer solves with them.
/// Nothing where that is not so, for small problems, and where there is no memory. Its steps count as iterations,
/// and their times, in `passed`; it ends early where `proceed` says so. Collective; throws as block_lanczos does,
/// memory apart.
template <class T>
DenseBlock<T> lanczos_start(BlockSpace<T>& space, Problem<T>& problem, const EigenSolver<T>& solver,
                            const DenseBlock<T>& constraints, const Observer& observer, const Proceed& proceed,
                            EigenResult<T>& passed);

}  // namespace block_eigs
