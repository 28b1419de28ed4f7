// Nonzeros that turn up anywhere find their rows: more than one exchange's worth, from all ranks, duplicates
// included.
#include <gtest/gtest.h>

#include "io/source/csr_scatter.hpp"

namespace block_eigs {
namespace {

TEST(RowCollector, TakesMoreThanOneExchangeHolds) {
  const Communicator comm(MPI_COMM_WORLD);
  constexpr GlobalIndex n = 50021;
  constexpr GlobalIndex per_rank = 4'500'000;  // an exchange takes 2^22 of a rank
  const Partition partition = Partition::uniform(n, comm.size());
  RowCollector collector(comm, partition, n);
  std::vector<Triplet> triplets;
  // Entry k of the whole list is (k mod n, k / n mod 7, 1): a closed form for every sum.
  const GlobalIndex begin = per_rank * comm.rank();
  for (GlobalIndex k = begin; k < begin + per_rank; ++k) triplets.push_back({k % n, k / n % 7, 1.0});
  collector.add(triplets);
  EXPECT_TRUE(triplets.empty());
  if (comm.rank() == comm.size() - 1) triplets.push_back({0, n - 1, 5.0});
  collector.add(triplets);
  const CsrRows rows = collector.finish();
  ASSERT_EQ(rows.rows(), partition.size(comm.rank()));
  const GlobalIndex total = per_rank * comm.size();
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    const GlobalIndex row = rows.row_begin + i;
    const auto first = static_cast<std::size_t>(rows.row_offsets[static_cast<std::size_t>(i)]);
    ASSERT_EQ(rows.row_offsets[static_cast<std::size_t>(i) + 1] - rows.row_offsets[static_cast<std::size_t>(i)],
              row == 0 ? 8 : 7);
    const GlobalIndex entries = (total - row + n - 1) / n;
    for (GlobalIndex j = 0; j < 7; ++j) {
      ASSERT_EQ(rows.columns[first + static_cast<std::size_t>(j)], j);
      ASSERT_EQ(rows.values[first + static_cast<std::size_t>(j)], static_cast<double>((entries - j + 6) / 7))
          << row << ' ' << j;
    }
  }
  if (comm.is_root()) {
    EXPECT_EQ(rows.columns[7], n - 1);
    EXPECT_EQ(rows.values[7], 5.0);
  }
}

TEST(RowCollector, WithNothingGivesEmptyRows) {
  const Communicator comm(MPI_COMM_WORLD);
  const Partition partition = Partition::uniform(2, comm.size());
  const CsrRows rows = scatter_to_owners(comm, partition, 9, {});
  EXPECT_EQ(rows.rows(), partition.size(comm.rank()));
  EXPECT_EQ(rows.nonzeros(), 0);
  EXPECT_EQ(rows.global_columns, 9);
}

}  // namespace
}  // namespace block_eigs
