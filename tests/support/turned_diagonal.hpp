#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "tests/support/linear_problem.hpp"

namespace block_eigs::test {

inline constexpr double turn_sine = 0.05;
inline const double turn_cosine = std::sqrt(1.0 - turn_sine * turn_sine);

/// A matrix with these values, of which each in the first half is turned a little towards one in the second: its
/// eigenvector holds turn_cosine in its row and turn_sine half of all rows behind.
inline RuleSource turned_diagonal(std::vector<double> values) {
  const auto size = static_cast<GlobalIndex>(values.size());
  return {size, [values = std::move(values)](GlobalIndex i, GlobalIndex j) {
            const auto half = static_cast<GlobalIndex>(values.size() / 2);
            if (i % half != j % half) return 0.0;
            const double first = values[static_cast<std::size_t>(i % half)];
            const double second = values[static_cast<std::size_t>(i % half + half)];
            if (i != j) return turn_cosine * turn_sine * (first - second);
            const double along = i < half ? turn_cosine : turn_sine;
            return first * along * along + second * (1.0 - along * along);
          }};
}

}  // namespace block_eigs::test
