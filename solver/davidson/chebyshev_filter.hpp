#pragma once

#include <functional>

#include "solver/space/block_space.hpp"
#include "solver/space/panel.hpp"

namespace block_eigs {

/// A polynomial that is small on [lower, upper] and grows below: p(anchor) = 1, anchor < lower.
struct FilterInterval {
  double lower = 0.0;
  double upper = 0.0;
  double anchor = 0.0;

  /// By what a further degree multiplies, in the logarithm, what is kept of an eigenvector of `lambda` against the
  /// largest of what is kept of [lower, upper]; 0 within it.
  double growth(double lambda) const;
};

/// What is done with the last two blocks of a filter's recurrence, x_k and x_{k-1}, k degrees being done.
template <class T>
using AfterDegree = std::function<void(int k, BlockView<T> last, BlockView<T> before)>;

/// X <- p(sign A) X, p the Chebyshev polynomial of `degree` >= 1 for the interval, scaled as the residual
/// polynomial of Chebyshev semi-iteration, by its three-term recurrence (Zhou, Saad, Tiago, Chelikowsky, J.
/// Comput. Phys. 219, 2006, algorithm 4.1). `degree` products with A, each of which reads and writes one block
/// more. `other` and `image` hold as many columns as x; `image` is used where A cannot take a step along. After
/// every degree but the last `clean` is called: to take invariant subspaces out of them that would grow from
/// rounding errors, with which p(A) commutes. Collective.
template <class T>
void chebyshev_filter(BlockSpace<T>& space, LinearOperator<T>& a, Panel<T>& x, Panel<T>& other, BlockView<T> image,
                      const FilterInterval& interval, double sign, int degree, const AfterDegree<T>& clean);

}  // namespace block_eigs
