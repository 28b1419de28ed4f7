#include "spmm/matrix/row_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "spmm/large_vectors.hpp"

namespace block_eigs {

RowNumbers row_numbers(const CsrRows& rows) {
  RowNumbers result;
  resize_large(result.diagonal, static_cast<std::size_t>(rows.rows()));
  double norm_inf = 0.0;
  double scaled_gershgorin = 0.0;
  double largest = 0.0;
  double least_sound = 0.0;
  std::int64_t exponents = 0;
  std::int64_t full_rows = 0;
#pragma omp parallel for schedule(static) reduction(max : norm_inf, scaled_gershgorin, largest, least_sound) \
    reduction(+ : exponents, full_rows)
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    const auto first = static_cast<std::size_t>(rows.row_offsets[static_cast<std::size_t>(i)]);
    const auto last = static_cast<std::size_t>(rows.row_offsets[static_cast<std::size_t>(i) + 1]);
    double sum = 0.0;
    double beside = 0.0;
    double& diagonal = result.diagonal[static_cast<std::size_t>(i)];
    for (std::size_t k = first; k < last; ++k) {
      const double size = std::abs(rows.values[k]);
      sum += size;
      if (rows.columns[k] == rows.row_begin + i) {
        diagonal = rows.values[k];
      } else {
        beside = std::max(beside, size);
      }
    }
    norm_inf = std::max(norm_inf, sum);
    if (sum > 0.0 && std::isfinite(sum)) {
      exponents += std::ilogb(sum);
      ++full_rows;
    }
    const double d = std::abs(diagonal);
    scaled_gershgorin = std::max(scaled_gershgorin, sum / (d != 0.0 ? d : 1.0));
    largest = std::max(largest, d);
    least_sound =
        std::max(least_sound, d != 0.0 ? beside * (beside / d) : std::numeric_limits<double>::infinity());
  }
  result.largest_diagonal = largest;
  result.least_sound = least_sound;
  result.norm_inf = norm_inf;
  result.exponents = exponents;
  result.rows = full_rows;
  result.scaled_gershgorin = scaled_gershgorin;
  return result;
}

}  // namespace block_eigs
