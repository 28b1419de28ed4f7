#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "spmm/types.hpp"

namespace block_eigs::bench {

/// Roundoffs of T by which a sum of `count` products, added up in any order, may be off, over the sum of the
/// products' magnitudes: `count` for certain (Higham, Accuracy and Stability of Numerical Algorithms, 2002,
/// section 3.1), 8 sqrt(count) but for one in 10^13 where errors are as good as independent (Higham and Mary, SIAM
/// J. Sci. Comput. 41, 2019). The smaller of the two: the first would not see a nonzero of a long row missing.
inline double roundings(Offset count) {
  const auto n = static_cast<double>(count);
  return std::min(n, 8.0 * std::sqrt(n));
}

/// Largest |got - expected| over what the roundings of both of them allow. The blocks hold rows of `cols` elements
/// without padding; `magnitudes` is |A| |B|, also computed in T. Infinite where an element is no number, or where
/// something was added to an empty row.
template <class T>
double excess_over_roundings(const std::vector<T>& got, const std::vector<T>& expected,
                             const std::vector<T>& magnitudes, const Offset* row_offsets, LocalIndex cols) {
  constexpr double roundoff = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2.0;
  const auto width = static_cast<std::size_t>(cols);
  double largest = 0.0;
#pragma omp parallel for reduction(max : largest)
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::size_t row = i / width;
    const Offset count = row_offsets[row + 1] - row_offsets[row];
    const double error = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    const double magnitude = static_cast<double>(magnitudes[i]) / (1.0 - roundings(count) * roundoff);
    const double bound = 2.0 * roundings(count) * roundoff * magnitude;
    const double excess = error == 0.0 ? 0.0 : error / bound;
    largest = std::max(largest, std::isnan(excess) ? std::numeric_limits<double>::infinity() : excess);
  }
  return largest;
}

}  // namespace block_eigs::bench
