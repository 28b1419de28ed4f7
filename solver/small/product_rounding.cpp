#include "solver/small/product_rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace block_eigs {

double product_rounding(const SmallMatrix& a) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  constexpr double least = 4.0;
  constexpr double share_of_root = 0.5;  // measured: up to 0.4
  const auto values = a.values();
  const auto zeros = std::count(values.begin(), values.end(), 0.0);
  const double entries = static_cast<double>(values.size()) - static_cast<double>(zeros);
  const double of_row = a.rows() > 0 ? entries / a.rows() : 0.0;
  return epsilon * std::max(least, share_of_root * std::sqrt(of_row));
}

}  // namespace block_eigs
