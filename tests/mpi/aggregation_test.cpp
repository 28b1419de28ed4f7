#include <gtest/gtest.h>

#include <new>
#include <vector>

#include "solver/multigrid/aggregation/aggregates.hpp"
#include "solver/multigrid/aggregation/fill.hpp"
#include "solver/multigrid/aggregation/row_builder.hpp"
#include "solver/multigrid/aggregation/row_exchange.hpp"
#include "spmm/parallel/communicator.hpp"

// The pieces that smoothed aggregation is made of.
namespace block_eigs::aggregation {
namespace {

TEST(Aggregation, ColumnNumbersThatNoDoubleHoldsArriveAsTheyAre) {
  const Communicator comm(MPI_COMM_WORLD);
  constexpr GlobalIndex large = (GlobalIndex{1} << 53) + 1;
  // Every rank adds one entry to the one row of every rank.
  SparseRows<GlobalIndex> part;
  std::vector<GlobalIndex> numbers;
  for (int r = 0; r < comm.size(); ++r) {
    part.columns.push_back(large + 2 * comm.rank());
    part.values.push_back(comm.rank() + 0.5);
    part.close_row();
    numbers.push_back(r);
  }
  const CsrRows rows =
      assemble(comm, Partition::uniform(comm.size(), comm.size()), GlobalIndex{1} << 60, std::move(part), numbers);
  ASSERT_EQ(rows.nonzeros(), comm.size());
  for (int r = 0; r < comm.size(); ++r) {
    EXPECT_EQ(rows.columns[static_cast<std::size_t>(r)], large + 2 * r);
    EXPECT_EQ(rows.values[static_cast<std::size_t>(r)], r + 0.5);
  }
}

TEST(Aggregation, AThreadOutOfMemoryIsAnExceptionOfTheCaller) {
  EXPECT_THROW(build_rows<LocalIndex>(1000, 1.0,
                                      [] {
                                        return [](LocalIndex i, SparseRows<LocalIndex>& out) {
                                          if (i == 777) throw std::bad_alloc();
                                          out.columns.push_back(i);
                                          out.values.push_back(1.0);
                                        };
                                      }),
               std::bad_alloc);
}

/// Tridiagonal, and row 0 coupled to every third one.
CsrRows chain_with_hub(LocalIndex size) {
  CsrRows rows;
  rows.global_rows = rows.global_columns = size;
  for (LocalIndex i = 0; i < size; ++i) {
    for (LocalIndex j = 0; j < size; ++j) {
      const bool coupled = std::abs(i - j) == 1 || (i == 0 && j % 3 == 0) || (j == 0 && i % 3 == 0);
      if (!coupled && i != j) continue;
      rows.columns.push_back(j);
      rows.values.push_back(i == j ? 4.0 : -1.0);
    }
    rows.row_offsets.push_back(static_cast<Offset>(rows.columns.size()));
  }
  return rows;
}

TEST(Aggregation, AHubStaysByItself) {
  const CsrRows rows = chain_with_hub(300);
  const Aggregates aggregates = aggregate(strength_graph(rows, 1, 0.0, 40.0));
  EXPECT_EQ(aggregates.is_hub[0], 1);
  for (std::size_t i = 1; i < 300; ++i) {
    EXPECT_EQ(aggregates.is_hub[i], 0);
    EXPECT_NE(aggregates.of_node[i], aggregates.of_node[0]);
    EXPECT_GE(aggregates.of_node[i], 0);
  }
  EXPECT_EQ(aggregates.count, 101);  // one of two or three in a row, and the hub
}

TEST(Aggregation, FillOfFewRowsIsCounted) {
  // Piecewise constant P for pairs of a chain of 12: P^T A P is a chain of 6.
  CsrRows a;
  a.global_rows = a.global_columns = 12;
  SparseRows<LocalIndex> p;
  for (LocalIndex i = 0; i < 12; ++i) {
    for (LocalIndex j = std::max(0, i - 1); j <= std::min(11, i + 1); ++j) {
      a.columns.push_back(j);
      a.values.push_back(1.0);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.columns.size()));
    p.columns.push_back(i / 2);
    p.values.push_back(1.0);
    p.close_row();
  }
  const Fill fill = estimated_fill(a, ColumnNumbers(0, 12, {}), p, ColumnNumbers(0, 6, {}), {});
  EXPECT_EQ(fill.own, 16.0);
  EXPECT_EQ(fill.others, 0.0);
}

}  // namespace
}  // namespace block_eigs::aggregation
