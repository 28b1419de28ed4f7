#pragma once

#include "apps/choice/matrix_traits.hpp"

namespace block_eigs::test {

/// A matrix with rows of `per_row` entries that add up to zero, as those of a diffusion do.
inline MatrixTraits diffusion(double rows, double per_row) {
  MatrixTraits traits;
  traits.rows = rows;
  traits.nonzeros = rows * per_row;
  traits.longest_row = per_row;
  traits.least_diagonal = per_row - 1.0;
  traits.least_row = traits.norm_inf = 2.0 * (per_row - 1.0);
  traits.zero_sums = 0.95;
  traits.dominant = 1.0;
  traits.scaled_norm = 2.0;
  return traits;
}

}  // namespace block_eigs::test
