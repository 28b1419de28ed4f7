#include "apps/choice/separator_guess.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "io/generate/generate.hpp"

namespace block_eigs {
namespace {

/// All rows of a graph with these edges and a diagonal.
CsrRows rows_of(GlobalIndex n, const std::vector<std::pair<GlobalIndex, GlobalIndex>>& edges) {
  std::vector<std::vector<GlobalIndex>> columns(static_cast<std::size_t>(n));
  for (GlobalIndex i = 0; i < n; ++i) columns[static_cast<std::size_t>(i)].push_back(i);
  for (const auto& [i, j] : edges) {
    columns[static_cast<std::size_t>(i)].push_back(j);
    columns[static_cast<std::size_t>(j)].push_back(i);
  }
  CsrRows rows;
  rows.global_rows = rows.global_columns = n;
  for (const std::vector<GlobalIndex>& row : columns) {
    rows.columns.insert(rows.columns.end(), row.begin(), row.end());
    rows.row_offsets.push_back(static_cast<Offset>(rows.columns.size()));
  }
  rows.values.assign(rows.columns.size(), 1.0);
  sort_rows(rows);
  return rows;
}

double separator(const CsrRows& rows) { return std::sqrt(2.0 * least_factors(rows).entries); }

CsrRows square(GlobalIndex side) {
  std::vector<std::pair<GlobalIndex, GlobalIndex>> edges;
  for (GlobalIndex i = 0; i < side; ++i) {
    for (GlobalIndex j = 0; j < side; ++j) {
      if (i + 1 < side) edges.emplace_back(i * side + j, (i + 1) * side + j);
      if (j + 1 < side) edges.emplace_back(i * side + j, i * side + j + 1);
    }
  }
  return rows_of(side * side, edges);
}

/// Of mean degree 2 `edges_of_row`.
CsrRows random_graph(GlobalIndex n, int edges_of_row) {
  std::vector<std::pair<GlobalIndex, GlobalIndex>> edges;
  std::uint64_t state = 1;
  for (GlobalIndex i = 0; i < n; ++i) {
    for (int k = 0; k < edges_of_row; ++k) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      edges.emplace_back(i, static_cast<GlobalIndex>((state >> 33U) % static_cast<std::uint64_t>(n)));
    }
  }
  return rows_of(n, edges);
}

TEST(SeparatorGuess, OfAMeshIsBelowItsSide) {
  EXPECT_EQ(separator(square(40)), 20.0);  // a search from the corner goes by diagonals
  const factors::FactorSize size = least_factors(square(40));
  EXPECT_DOUBLE_EQ(size.flops, 20.0 * 20.0 * 20.0 / 3.0);
}

TEST(SeparatorGuess, OfARandomGraphIsAGoodPartOfAllRows) { EXPECT_GT(separator(random_graph(5000, 3)), 500.0); }

TEST(SeparatorGuess, TreesCostNothing) {
  std::vector<std::pair<GlobalIndex, GlobalIndex>> edges;
  for (GlobalIndex i = 1; i < 1023; ++i) edges.emplace_back(i, (i - 1) / 2);
  EXPECT_EQ(separator(rows_of(1023, edges)), 0.0);
  EXPECT_EQ(separator(rows_of(10, {})), 0.0);
  EXPECT_EQ(separator(rows_of(0, {})), 0.0);
  edges.emplace_back(500, 700);  // which closes a cycle
  EXPECT_LE(separator(rows_of(1023, edges)), 1.0);
}

}  // namespace
}  // namespace block_eigs
