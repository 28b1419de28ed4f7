#pragma once

#include <algorithm>
#include <cmath>

namespace block_eigs {

/// A diagonal entry is raised where a positive semi-definite matrix would have more than this many times as much.
constexpr double too_small = 2.0;

/// What Jacobi divides by in a row with the diagonal entry `d` and `beside`, the largest magnitude beside it; see
/// DistributedMatrix::jacobi_diagonal(). `largest` is the magnitude of the largest diagonal entry of all rows.
/// Never zero. The CUDA backend has the same rule in device code; tests hold the two against each other.
inline double raised_entry(double d, double beside, double largest) {
  const double sound = beside > 0.0 ? beside * std::min(1.0, beside / largest) : d == 0.0 ? largest : 0.0;
  if (sound > too_small * std::abs(d)) d = sound;
  return d != 0.0 ? d : 1.0;
}

}  // namespace block_eigs
