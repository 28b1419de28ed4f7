#pragma once

#include <optional>
#include <vector>

#include "apps/input/problem.hpp"
#include "apps/journey/eigensolve.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/report.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/dense_block.hpp"

namespace block_eigs {

/// Pairs in their order, from the wanted end on.
template <class T>
struct EigenPairs {
  DenseBlock<T> vectors{};
  std::vector<double> values{};
  std::vector<double> residual_norms{};

  int count() const { return static_cast<int>(values.size()); }
};

/// What a Lanczos iteration has come to.
template <class T>
struct LanczosStart {
  std::optional<EigenResult<T>> result{};  ///< all pairs, where they are done
  EigenPairs<T> pairs{};                   ///< else what there is of them and of guard vectors, nearly orthogonal
};

/// Eigenpairs where the operators of `solver` are factors of A - sigma B, sigma beyond the wanted end, or beyond
/// those of `before`, which were found with another sigma: by block_lanczos(), which needs some times fewer solves
/// with them than LOBPCG. Returns `before` where that is not so, for small problems, and where there is no memory.
/// Its steps count as iterations, and their times, in `passed`; it ends early where `proceed` says so, which is
/// told of all pairs, those of `before` first, and of the guard vectors, too. Collective; throws InputError as
/// block_lanczos does: LOBPCG meets what else fails, and tells what comes of it.
template <class T>
LanczosStart<T> lanczos_start(BlockSpace<T>& space, Problem<T>& problem, const EigenSolver<T>& solver,
                              const DenseBlock<T>& constraints, EigenPairs<T> before, const Observer& observer,
                              const Proceed& proceed, EigenResult<T>& passed);

}  // namespace block_eigs
