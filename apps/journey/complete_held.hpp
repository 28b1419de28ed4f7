#pragma once

#include <vector>

#include "apps/input/problem.hpp"

namespace block_eigs {

/// Eigenvectors that were found without what couples rows that a penalty holds get the entries that they have
/// there: A and B as they are, `exact`, leave no residual in these rows then. Collective.
template <class T>
void complete_held_rows(Problem<double>& exact, const HeldRows& held, const std::vector<double>& eigenvalues,
                        DenseBlock<T>& vectors);

}  // namespace block_eigs
