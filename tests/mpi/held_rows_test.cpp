#include "apps/input/held_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "spmm/parallel/partition.hpp"

// Which rows a penalty holds, and what is left of a matrix without what couples them.
namespace block_eigs {
namespace {

constexpr GlobalIndex size = 24;

/// A chain with the penalty in its third row and in the last one.
CsrRows chain(const Communicator& comm, double penalty, double coupling = -1.0, double others = 2.0) {
  const Partition partition = Partition::uniform(size, comm.size());
  CsrRows rows;
  rows.row_begin = partition.begin(comm.rank());
  rows.global_rows = rows.global_columns = size;
  for (GlobalIndex i = rows.row_begin; i < partition.end(comm.rank()); ++i) {
    for (GlobalIndex j = std::max<GlobalIndex>(i - 1, 0); j < std::min(i + 2, size); ++j) {
      rows.columns.push_back(j);
      rows.values.push_back(i != j ? coupling : i == 2 || i == size - 1 ? penalty : others);
    }
    rows.row_offsets.push_back(static_cast<Offset>(rows.columns.size()));
  }
  return rows;
}

TEST(HeldRows, FoundOnAllRanks) {
  const Communicator comm(MPI_COMM_WORLD);
  const std::vector<GlobalIndex> both{2, size - 1};
  for (const double penalty : {1e18, 1e30, 1e200}) {
    const CsrRows rows = chain(comm, penalty);
    const HeldRows held = find_held_rows(comm, rows);
    EXPECT_EQ(held.all, both) << penalty;
    EXPECT_EQ(comm.sum(static_cast<std::int64_t>(held.own.size())), 2);
    for (std::size_t k = 0; k < held.own.size(); ++k) {
      EXPECT_TRUE(std::binary_search(both.begin(), both.end(), rows.row_begin + held.own[k]));
      EXPECT_EQ(held.penalties[k], penalty);
    }
  }
}

TEST(HeldRows, NotWhereTheCouplingCounts) {
  const Communicator comm(MPI_COMM_WORLD);
  EXPECT_FALSE(find_held_rows(comm, chain(comm, 2.0)).any());
  EXPECT_FALSE(find_held_rows(comm, chain(comm, 1e13)).any());
  EXPECT_FALSE(find_held_rows(comm, chain(comm, 1e15)).any()) << "1e-15 of 4 is a rounding error of others still";
  EXPECT_FALSE(find_held_rows(comm, chain(comm, -1e30)).any()) << "the smallest eigenvalue of all";
  EXPECT_FALSE(find_held_rows(comm, chain(comm, 1e30, 0.0)).any()) << "it stands alone as it is";
  EXPECT_TRUE(find_held_rows(comm, chain(comm, 1e20, 1.0, 2.0)).any());
  EXPECT_FALSE(find_held_rows(comm, chain(comm, 1e20, 1e4, 2.0)).any()) << "1e-12 beside 1e4";
}

// Rows of ordinary size that little couples to others are no penalties.
TEST(HeldRows, NotBesideRowsAsLarge) {
  const Communicator comm(MPI_COMM_WORLD);
  EXPECT_FALSE(find_held_rows(comm, chain(comm, 1.0, 1e-16, 1.0)).any());
  EXPECT_FALSE(find_held_rows(comm, chain(comm, 1e16, 1e-1, 1e4)).any());
}

TEST(HeldRows, NotWhereTheMassHasThePenaltyToo) {
  const Communicator comm(MPI_COMM_WORLD);
  const HeldRows held = find_held_rows(comm, chain(comm, 1e30));
  const HeldRows with_mass = held_with_mass(comm, held, chain(comm, 4.0, 1.0, 4.0));
  EXPECT_EQ(with_mass.all, held.all);
  for (std::size_t k = 0; k < with_mass.own.size(); ++k) EXPECT_EQ(with_mass.values[k], 0.25 * held.penalties[k]);
  EXPECT_FALSE(held_with_mass(comm, held, chain(comm, 1e30, 1.0, 4.0)).any());
  EXPECT_FALSE(held_with_mass(comm, held, chain(comm, 4.0, 1e10, 4.0)).any());
}

TEST(HeldRows, StandAloneWithoutTheirCouplings) {
  const Communicator comm(MPI_COMM_WORLD);
  CsrRows rows = chain(comm, 1e30);
  const HeldRows held = find_held_rows(comm, rows);
  EXPECT_EQ(comm.sum(take_out_couplings(held, rows)), 6);
  replace_penalties(held, rows);
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    const GlobalIndex row = rows.row_begin + i;
    std::vector<GlobalIndex> expected;
    for (GlobalIndex j = std::max<GlobalIndex>(row - 1, 0); j < std::min(row + 2, size); ++j) {
      const bool apart = j == 2 || j == size - 1 || row == 2 || row == size - 1;
      if (j == row || !apart) expected.push_back(j);
    }
    const auto begin = rows.columns.begin() + rows.row_offsets[static_cast<std::size_t>(i)];
    const auto end = rows.columns.begin() + rows.row_offsets[static_cast<std::size_t>(i) + 1];
    EXPECT_EQ(std::vector<GlobalIndex>(begin, end), expected) << row;
  }
  EXPECT_LT(comm.max(*std::max_element(rows.values.begin(), rows.values.end())), 5.0);
  LoneRows lone = find_lone_rows(rows);
  put_penalties(held, lone);
  EXPECT_EQ(lone.rows, held.own);
  EXPECT_EQ(lone.values, held.values);
}

}  // namespace
}  // namespace block_eigs
