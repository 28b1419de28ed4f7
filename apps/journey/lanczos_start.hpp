#pragma once

#include <optional>

#include "apps/input/problem.hpp"
#include "apps/journey/eigensolve.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/report.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/dense_block.hpp"

namespace block_eigs {

/// What a Lanczos iteration has come to.
template <class T>
struct LanczosStart {
  std::optional<EigenResult<T>> result{};  ///< all pairs, where they are done
  DenseBlock<T> vectors{};                 ///< else for LOBPCG to begin with; without columns where there are none
};

/// Eigenpairs where the operators of `solver` are factors of A - sigma B, sigma beyond the wanted end, and its
/// block holds all pairs: by block_lanczos(), which needs some times fewer solves with them than LOBPCG. Nothing
/// where that is not so, for small problems, and where there is no memory. Its steps count as iterations, and
/// their times, in `passed`; it ends early where `proceed` says so, which is told of the guard vectors, too.
/// Collective; throws as block_lanczos does, memory apart.
template <class T>
LanczosStart<T> lanczos_start(BlockSpace<T>& space, Problem<T>& problem, const EigenSolver<T>& solver,
                              const DenseBlock<T>& constraints, const Observer& observer, const Proceed& proceed,
                              EigenResult<T>& passed);

}  // namespace block_eigs
