#pragma once

#include <vector>

#include "apps/input/problem.hpp"
#include "apps/input/right_hand_sides.hpp"
#include "apps/report/verification.hpp"
#include "solver/block_cg/block_cg.hpp"
#include "spmm/matrix/dense_block.hpp"

namespace block_eigs {

/// What holds for solutions, computed in double from A and F alone, a few columns at a time, for the result of a
/// solver that worked in T. `f` are the right-hand sides as it had them. Collective.
template <class T>
SolutionCheck verify_solution(Problem<double>& problem, RightHandSides& sides, const DenseBlock<T>& f,
                              const BlockCgResult<T>& result, double tolerance);

}  // namespace block_eigs
