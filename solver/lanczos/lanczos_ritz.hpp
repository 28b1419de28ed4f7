#pragma once

#include <vector>

#include "spmm/small_matrix.hpp"

// What a Lanczos iteration decides by numbers alone.
namespace block_eigs {

/// Eigenpairs of the projected operator, largest value first.
struct LanczosRitz {
  std::vector<double> values;
  SmallMatrix vectors;
  std::vector<double> residuals;
};

SmallMatrix leading_columns(const SmallMatrix& matrix, int count);

/// Members of the largest group of the first `count` values that are the same within rounding errors of the
/// operator.
int largest_cluster(const std::vector<double>& values, int count);

/// Leading pairs so far away from the last of `wanted` that rounding errors of their values are large beside that,
/// and which the operator does not mix with it any more: that counts squared.
int far_apart(const LanczosRitz& ritz, int wanted);

}  // namespace block_eigs
