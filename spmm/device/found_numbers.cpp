#include "spmm/device/found_numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "spmm/device/raised_entry.hpp"

namespace block_eigs {

bool take_findings(MatrixNumbers& numbers, const LargestOfRows& largest, const RowExponents& exponents,
                   Neighbourhood& ranks) {
  std::array<double, 5> most{largest.norm_inf, largest.scaled, largest.interpolation, largest.diagonal,
                             largest.least_sound};
  std::array<std::int64_t, 2> sums{exponents.sum, exponents.rows};
  ranks.raise_to_largest(most);
  ranks.add_up(sums);
  numbers.norm_inf = most[0];
  numbers.scaled_gershgorin = numbers.jacobi_bound = most[1];
  numbers.interpolation_bound = most[2];
  numbers.largest_diagonal = most[3];
  if (sums[1] > 0)
    numbers.typical_row_sum = std::min(std::ldexp(1.0, static_cast<int>(sums[0] / sums[1])), numbers.norm_inf);
  return most[4] > too_small * numbers.largest_diagonal;
}

void take_damped(MatrixNumbers& numbers, double bound, std::optional<ConstantEntries> own, Neighbourhood& ranks) {
  constexpr double none = -std::numeric_limits<double>::infinity();
  std::array<double, 5> most{bound, none, none, none, none};
  // The largest and, negative, the smallest: 0 where a rank has several.
  if (own) most = {bound, own->damped, -own->damped, own->jacobi, -own->jacobi};
  ranks.raise_to_largest(most);
  numbers.damped_bound = most[0];
  numbers.constant = most[1] == -most[2] ? most[1] : 0.0;
  numbers.jacobi_constant = most[3] == -most[4] ? most[3] : 0.0;
}

}  // namespace block_eigs
