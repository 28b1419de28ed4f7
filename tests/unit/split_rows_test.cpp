#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "spmm/matrix/split_rows.hpp"

// A rank's rows, split into own and ghost columns, put together again: the rows they were. Enough of them that own
// values move within the memory in which they came.
namespace block_eigs {
namespace {

struct Case {
  LocalIndex rows = 0;
  GlobalIndex ghosts_one_in = 0;  ///< every so many entries, at random
  bool at_the_ends = false;       ///< ghosts in the first and the last rows alone
  int most_entries = 12;          ///< of a row
};

constexpr GlobalIndex outside = 1000;  ///< columns on either side that others own

CsrRows random_rows(const Case& what) {
  CsrRows rows;
  rows.row_begin = outside;
  rows.global_rows = rows.global_columns = what.rows + 2 * outside;
  std::mt19937_64 draw(static_cast<std::uint64_t>(what.rows) + static_cast<std::uint64_t>(what.ghosts_one_in));
  for (LocalIndex i = 0; i < what.rows; ++i) {
    const bool may = !what.at_the_ends || i < 50 || i >= what.rows - 50;
    std::vector<GlobalIndex> columns;
    const int entries = static_cast<int>(draw() % static_cast<std::uint64_t>(what.most_entries + 1));
    for (int e = 0; e < entries; ++e) {
      const bool ghost = may && draw() % static_cast<std::uint64_t>(what.ghosts_one_in) == 0;
      const auto near = static_cast<GlobalIndex>(draw() % static_cast<std::uint64_t>(outside));
      const GlobalIndex own = outside + static_cast<GlobalIndex>(draw() % static_cast<std::uint64_t>(what.rows));
      columns.push_back(!ghost ? own : draw() % 2 == 0 ? near : outside + what.rows + near);
    }
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (const GlobalIndex column : columns) {
      rows.columns.push_back(column);
      rows.values.push_back(static_cast<double>(rows.columns.size()));
    }
    rows.row_offsets.push_back(static_cast<Offset>(rows.columns.size()));
  }
  return rows;
}

template <class T>
void expect_whole(const Case& what) {
  const CsrRows rows = random_rows(what);
  const GlobalIndex begin = outside;
  const GlobalIndex end = outside + what.rows;
  const std::vector<GlobalIndex> ghosts = ghost_columns(rows, begin, end);
  CsrRows consumed = rows;
  const SplitRows<T> parts = split<T>(consumed, begin, end, ghosts);
  ASSERT_EQ(parts.own.row_offsets.size(), rows.row_offsets.size());
  ASSERT_EQ(parts.own.values.size() + parts.boundary.values.size(), rows.values.size());
  std::size_t b = 0;
  std::vector<GlobalIndex> columns;
  std::vector<double> values;
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows.rows()); ++i) {
    const auto add = [&](Offset k, GlobalIndex column, T value) {
      columns.push_back(column);
      values.push_back(value);
      ASSERT_LE(k, rows.nonzeros());
    };
    // Ghosts before, own columns, ghosts behind.
    Offset g = 0;
    Offset last = 0;
    if (b < parts.boundary.row_map.size() && parts.boundary.row_map[b] == static_cast<LocalIndex>(i)) {
      g = parts.boundary.row_offsets[b];
      last = parts.boundary.row_offsets[++b];
      ASSERT_LT(g, last);
    }
    const auto ghost = [&](Offset k) {
      return ghosts[static_cast<std::size_t>(parts.boundary.column_indices[static_cast<std::size_t>(k)])];
    };
    for (; g < last && ghost(g) < begin; ++g) add(g, ghost(g), parts.boundary.values[static_cast<std::size_t>(g)]);
    for (Offset k = parts.own.row_offsets[i]; k < parts.own.row_offsets[i + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      add(k, begin + parts.own.column_indices[at], parts.own.values[at]);
    }
    for (; g < last; ++g) add(g, ghost(g), parts.boundary.values[static_cast<std::size_t>(g)]);
    ASSERT_EQ(columns.size(), static_cast<std::size_t>(rows.row_offsets[i + 1])) << "row " << i;
  }
  EXPECT_EQ(b, parts.boundary.row_map.size());
  EXPECT_EQ(columns, rows.columns);
  EXPECT_EQ(values, rows.values);
}

TEST(SplitRowsTest, PutTogetherAgainAreTheRows) {
  for (const Case& what : {Case{1, 1}, Case{3, 2}, Case{500, 1}, Case{500, 3}, Case{300'000, 5},
                           Case{300'000, 3, true}, Case{20, 3, false, 100'000}, Case{40'000, 2, true, 100}}) {
    SCOPED_TRACE(testing::Message() << what.rows << " rows, a ghost in " << what.ghosts_one_in);
    expect_whole<double>(what);
    expect_whole<float>(what);
  }
}

}  // namespace
}  // namespace block_eigs
