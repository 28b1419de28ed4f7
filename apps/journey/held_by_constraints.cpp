#include "apps/journey/held_by_constraints.hpp"

#include <algorithm>

#include "solver/space/orthonormalize.hpp"

namespace block_eigs {

template <class T>
bool held_by_constraints(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* b,
                         const DenseBlock<T>& constraints, const EigenResult<T>& result) {
  constexpr double share = 0.9;
  const bool open =
      std::find(result.outcomes.begin(), result.outcomes.end(), Outcome::not_converged) != result.outcomes.end();
  if (constraints.cols() == 0 || result.eigenvectors.cols() == 0 || !open) return false;
  DenseBlock<T> images = space.make_block(constraints.cols());
  if (b != nullptr) {
    b->reserve(std::max(constraints.cols(), result.eigenvectors.cols()));
    b->apply(constraints.view(), images.view());
  } else {
    space.copy(constraints.view(), images.view());
  }
  const LocalIndex count =
      orthonormalize<T>(space, {}, images.view(), images.view(), {}, Orthonormality::to_rounding);
  const LocalIndex pairs = result.eigenvectors.cols();
  DenseBlock<T> ax = space.make_block(pairs);
  DenseBlock<T> bx = space.make_block(b != nullptr ? pairs : 0);
  a.reserve(pairs);
  a.apply(result.eigenvectors.view(), ax.view());
  if (b != nullptr) b->apply(result.eigenvectors.view(), bx.view());
  const std::vector<double> norms = space.residual(
      ax.view(), b != nullptr ? bx.view() : result.eigenvectors.view(), result.eigenvalues, ax.view());
  SmallMatrix along;
  space.gram({images.columns(0, count)}, {ax.view()}, along);
  for (int j = 0; j < pairs; ++j) {
    const auto at = static_cast<std::size_t>(j);
    if (result.outcomes[at] != Outcome::not_converged) continue;
    double squares = 0.0;
    for (int i = 0; i < along.rows(); ++i) squares += along(i, j) * along(i, j);
    if (!(squares >= share * share * norms[at] * norms[at])) return false;
  }
  return true;
}

template bool held_by_constraints(BlockSpace<float>&, LinearOperator<float>&, LinearOperator<float>*,
                                  const DenseBlock<float>&, const EigenResult<float>&);
template bool held_by_constraints(BlockSpace<double>&, LinearOperator<double>&, LinearOperator<double>*,
                                  const DenseBlock<double>&, const EigenResult<double>&);

}  // namespace block_eigs
