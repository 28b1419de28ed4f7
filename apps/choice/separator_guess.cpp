#include "apps/choice/separator_guess.hpp"

#include <algorithm>
#include <vector>

namespace block_eigs {

namespace {

/// Columns of row `i` but the diagonal.
template <class Function>
void for_each_neighbour(const CsrRows& rows, std::size_t i, const Function& function) {
  for (auto k = rows.row_offsets[i]; k < rows.row_offsets[i + 1]; ++k) {
    const auto j = static_cast<std::size_t>(rows.columns[static_cast<std::size_t>(k)]);
    if (j != i) function(j);
  }
}

/// Whether a row is left once all are taken out, one after the other, that are coupled to one at most.
std::vector<char> without_trees(const CsrRows& rows) {
  const std::size_t n = rows.row_offsets.size() - 1;
  std::vector<int> degree(n, 0);
  std::vector<char> left(n, 1);
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < n; ++i) {
    for_each_neighbour(rows, i, [&](std::size_t) { ++degree[i]; });
    if (degree[i] <= 1) ends.push_back(i);
  }
  while (!ends.empty()) {
    const std::size_t i = ends.back();
    ends.pop_back();
    left[i] = 0;
    for_each_neighbour(rows, i, [&](std::size_t j) {
      if (left[j] && --degree[j] == 1) ends.push_back(j);
    });
  }
  return left;
}

/// Of a breadth-first search in each part of what is `left`.
std::size_t widest_level(const CsrRows& rows, std::vector<char> left) {
  std::size_t widest = 0;
  std::vector<std::size_t> level, next;
  for (std::size_t start = 0; start < left.size(); ++start) {
    if (!left[start]) continue;
    left[start] = 0;
    for (level = {start}; !level.empty(); std::swap(level, next)) {
      widest = std::max(widest, level.size());
      next.clear();
      for (const std::size_t i : level) {
        for_each_neighbour(rows, i, [&](std::size_t j) {
          if (left[j]) left[j] = 0, next.push_back(j);
        });
      }
    }
  }
  return widest;
}

}  // namespace

factors::FactorSize least_factors(const CsrRows& rows) {
  const double separator = 0.5 * static_cast<double>(widest_level(rows, without_trees(rows)));
  const double entries = 0.5 * separator * separator;
  return {.bytes = 8.0 * entries, .entries = entries, .flops = separator * separator * separator / 3.0};
}

}  // namespace block_eigs
