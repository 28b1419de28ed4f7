#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include "apps/input/problem.hpp"
#include "solver/lobpcg/finished_pairs.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs {

/// A step of subspace iteration with factors, X = (A - sigma B)^-1 B X, for all columns but the first `found`.
/// What other preconditioners have left in X far from the wanted end, Rayleigh and Ritz see squared and
/// corrections hardly reach; what a Lanczos basis has left there is small in X and large in A X. Collective;
/// throws as `factors` does, and RunError (memory), on all ranks.
template <class T>
void refine_by_factors(BlockSpace<T>& space, Problem<T>& problem, LinearOperator<T>& factors, LocalIndex found,
                       DenseBlock<T>& block) {
  const LocalIndex columns = std::max<LocalIndex>(block.cols() - found, 0);
  if (columns == 0) return;
  const BlockView<T> x = block.view().columns(found, columns);
  DenseBlock<T> image = space.make_block(columns);
  if (problem.b) {
    problem.b->reserve(columns);
    problem.b->apply(x, image.view());
  } else {
    space.copy(x, image.view());
  }
  factors.reserve(columns);
  factors.apply(image.view(), x);
}

/// `vectors` with these values as a result, refined once where they are not done as they are, but for the first
/// `known`, which are; see finished_pairs. Collective; throws as that and refine_by_factors do.
template <class T>
std::optional<EigenResult<T>> finished_by_factors(BlockSpace<T>& space, Problem<T>& problem,
                                                  LinearOperator<T>& factors, const LobpcgOptions& options,
                                                  const DenseBlock<T>& constraints, LocalIndex known,
                                                  DenseBlock<T>& vectors, std::span<const double> values) {
  const auto finished = [&] {
    return finished_pairs<T>(space, *problem.a, problem.b.get(), options, vectors, values, &constraints);
  };
  std::optional<EigenResult<T>> result = finished();
  if (result || space.to_end_early()) return result;
  refine_by_factors(space, problem, factors, known, vectors);
  return finished();
}

}  // namespace block_eigs
