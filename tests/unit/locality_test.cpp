#include "spmm/host/sparse/locality.hpp"

#include <gtest/gtest.h>

#include "io/generate/generate.hpp"
#include "spmm/parallel/partition.hpp"

// Which rows of a dense block the host asks for ahead of use.
namespace block_eigs::host {
namespace {

Fetch fetching(MatrixSource& source) {
  const CsrRows rows = source.read(Partition::uniform(source.rows(), 1));
  const std::vector<LocalIndex> columns(rows.columns.begin(), rows.columns.end());
  return fetching_for(rows.row_offsets.data(), columns.data(), rows.rows());
}

TEST(Locality, StencilsFetchOneRowAndRandomGraphsAll) {
  const Communicator comm(MPI_COMM_SELF);
  for (const int points : {7, 27}) {
    const auto grid = laplacian3d(comm, {.size = {30, 20, 10}, .points = points});
    EXPECT_EQ(fetching(*grid), Fetch::last_of_row) << points;
  }
  EXPECT_EQ(fetching(*random_uniform(comm, {.rows = 20'000, .per_row = 12})), Fetch::every_row);
  EXPECT_EQ(fetching(*rmat(comm, {.scale = 13, .edge_factor = 8})), Fetch::every_row);
}

TEST(Locality, SmallMatrices) {
  const std::vector<Offset> none{0};
  EXPECT_NO_FATAL_FAILURE(fetching_for(none.data(), nullptr, 0));
  const std::vector<Offset> empty_rows{0, 0, 0, 0};
  EXPECT_NO_FATAL_FAILURE(fetching_for(empty_rows.data(), nullptr, 3));
}

}  // namespace
}  // namespace block_eigs::host
