#include "spmm/host/sparse/balance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace block_eigs::test {
namespace {

using host::Position;
using Random = std::mt19937_64;

std::vector<Offset> offsets_of(const std::vector<Offset>& row_lengths) {
  std::vector<Offset> offsets{0};
  for (const Offset length : row_lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

std::vector<Offset> random_row_lengths(Random& random, int rows) {
  std::vector<Offset> lengths(static_cast<std::size_t>(rows));
  std::uniform_int_distribution<Offset> length(0, std::uniform_int_distribution<Offset>(0, 30)(random));
  for (Offset& value : lengths) value = length(random);
  if (rows > 0 && rows % 3 == 0) lengths[static_cast<std::size_t>(rows) / 2] = 5000;
  return lengths;
}

std::int64_t work(const Position& position) { return position.row + position.nonzero; }

/// Shares begin at the start, end at the end, follow each other, and stay within their rows.
void expect_valid(const std::vector<Position>& cuts, const std::vector<Offset>& offsets, int shares) {
  ASSERT_EQ(cuts.size(), static_cast<std::size_t>(shares) + 1);
  EXPECT_EQ(work(cuts.front()), 0);
  EXPECT_EQ(cuts.back().row, static_cast<LocalIndex>(offsets.size()) - 1);
  EXPECT_EQ(cuts.back().nonzero, offsets.back());
  for (std::size_t s = 0; s < cuts.size(); ++s) {
    EXPECT_LE(s > 0 ? work(cuts[s - 1]) : 0, work(cuts[s]));
    const auto row = static_cast<std::size_t>(cuts[s].row);
    EXPECT_GE(cuts[s].nonzero, offsets[row]);
    EXPECT_LE(cuts[s].nonzero, offsets[std::min(row + 1, offsets.size() - 1)]);
  }
}

TEST(Balance, MergeSharesAreEqual) {
  Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const std::vector<Offset> offsets = offsets_of(random_row_lengths(random, trial));
    const auto rows = static_cast<LocalIndex>(offsets.size()) - 1;
    const int shares = 1 + trial % 17;
    const std::vector<Position> cuts = host::balance(offsets.data(), rows, shares, 0);
    expect_valid(cuts, offsets, shares);
    const std::int64_t fair = (rows + offsets.back()) / shares;
    for (std::size_t s = 0; s + 1 < cuts.size(); ++s) EXPECT_NEAR(work(cuts[s + 1]) - work(cuts[s]), fair, 2);
  }
}

TEST(Balance, RowSplitKeepsShortRowsWholeAndCutsLongOnes) {
  Random random(4);
  for (int trial = 1; trial < 200; ++trial) {
    const std::vector<Offset> lengths = random_row_lengths(random, trial);
    const std::vector<Offset> offsets = offsets_of(lengths);
    const auto rows = static_cast<LocalIndex>(offsets.size()) - 1;
    const int shares = 1 + trial % 17;
    const Offset longest_whole = (rows + offsets.back()) / shares;
    const std::vector<Position> cuts = host::balance(offsets.data(), rows, shares, longest_whole);
    expect_valid(cuts, offsets, shares);
    for (std::size_t s = 0; s + 1 < cuts.size(); ++s) {
      EXPECT_LE(work(cuts[s + 1]) - work(cuts[s]), 2 * longest_whole + 2);
      const auto row = static_cast<std::size_t>(cuts[s].row);
      const bool within =
          row < lengths.size() && cuts[s].nonzero > offsets[row] && cuts[s].nonzero < offsets[row + 1];
      EXPECT_TRUE(!within || lengths[row] > longest_whole);
    }
  }
}

TEST(Balance, EveryThreadHasAShareOfEnoughWork) {
  for (const int threads : {1, 2, 3, 64}) {
    EXPECT_EQ(host::share_count(0, threads), 1);
    EXPECT_GE(host::share_count(std::int64_t{1} << 40, threads), 1000);
    for (std::int64_t size = 1; size < (std::int64_t{1} << 32); size *= 3) {
      const int shares = host::share_count(size, threads);
      EXPECT_GE(shares, 1);
      EXPECT_TRUE(shares == 1 || size / shares >= 1024) << size << " units, " << threads << " threads: " << shares;
      EXPECT_TRUE(size < 200'000 * threads || shares % threads == 0)
          << size << " units, " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace block_eigs::test
