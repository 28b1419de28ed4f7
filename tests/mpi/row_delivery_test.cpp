// Rows of blocks from where they lie to those that own them.
#include "solver/factors/row_delivery.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <vector>

#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {
namespace {

constexpr GlobalIndex n = 83;
constexpr double untouched = -1.0;

double value(GlobalIndex row, LocalIndex column) {
  return 100.0 * static_cast<double>(row) + static_cast<double>(column);
}

/// Row i lies on rank (7 i) mod size, the last ones first; on one of many ranks there is none.
std::vector<int> rows_here(const Communicator& comm) {
  std::vector<int> rows;
  for (GlobalIndex i = n; i-- > 0;) {
    const int most = comm.size() > 2 ? comm.size() - 1 : comm.size();
    if ((7 * i) % most == comm.rank()) rows.push_back(static_cast<int>(i) + 1);
  }
  return rows;
}

void expect_delivery(const Communicator& comm, const Partition& partition) {
  const std::vector<int> rows = rows_here(comm);
  factors::RowDelivery delivery(comm, partition, rows);
  delivery.reserve(5);
  const auto own = static_cast<std::size_t>(partition.size(comm.rank()));
  for (const LocalIndex columns : {5, 1, 3}) {
    const std::size_t found_stride = rows.size() + 2;
    const std::size_t own_stride = own + 1;
    std::vector<double> found(found_stride * static_cast<std::size_t>(columns), untouched);
    std::vector<double> block(own_stride * static_cast<std::size_t>(columns), untouched);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (LocalIndex j = 0; j < columns; ++j)
        found[i + static_cast<std::size_t>(j) * found_stride] = value(rows[i] - 1, j);
    }
    delivery.deliver(found.data(), static_cast<std::ptrdiff_t>(found_stride), columns, block.data(),
                     static_cast<std::ptrdiff_t>(own_stride));
    for (LocalIndex j = 0; j < columns; ++j) {
      const double* column = block.data() + static_cast<std::size_t>(j) * own_stride;
      for (std::size_t i = 0; i < own; ++i)
        EXPECT_EQ(column[i], value(partition.begin(comm.rank()) + static_cast<GlobalIndex>(i), j));
      EXPECT_EQ(column[own], untouched);
    }
  }
}

TEST(RowDelivery, BringsRowsToTheirOwnersInOrder) {
  const Communicator comm(MPI_COMM_WORLD);
  expect_delivery(comm, Partition::uniform(n, comm.size()));
}

TEST(RowDelivery, SomeOwnNothing) {
  const Communicator comm(MPI_COMM_WORLD);
  std::vector<GlobalIndex> offsets(static_cast<std::size_t>(comm.size()) + 1, n);
  offsets.front() = 0;
  expect_delivery(comm, Partition(offsets));
}

}  // namespace
}  // namespace block_eigs
