#pragma once

#include <functional>
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

/// Whether the first `count` pairs are there, with positive values and residuals within `limit`.
bool are_done(const LanczosRitz& ritz, int count, const std::function<double(double)>& limit);

/// Whether none of the pairs behind the first `count` is to come before these, as far as residuals tell.
bool have_settled(const LanczosRitz& ritz, int count, const std::function<double(double)>& limit);

/// How many of the first `count` values come before the first group of so many, or more, that are the same within
/// rounding errors of the operator, or within what pairs with residuals of `limit` tell apart; all where there is
/// none.
int values_before_cluster(const std::vector<double>& values, int count, int members,
                          const std::function<double(double)>& limit);

/// Leading pairs so far away from the last of `wanted` that rounding errors of their values are large beside that,
/// and which the operator does not mix with it any more: that counts squared.
int far_apart(const LanczosRitz& ritz, int wanted);

}  // namespace block_eigs
