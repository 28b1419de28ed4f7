#include "io/source/stored_zeros.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "spmm/parallel/partition.hpp"

namespace block_eigs {
namespace {

constexpr GlobalIndex n = 211;

double entry(GlobalIndex i, GlobalIndex j) {
  if (i % 7 == 3 && j % 2 == 0) return 0.0;
  return (i + 2 * j) % 3 == 0 ? 0.0 : static_cast<double>(1 + i * n + j);
}

/// All entries, zeros among them.
class Full final : public MatrixSource {
 public:
  explicit Full(const Communicator& comm) : comm_(comm) {}
  GlobalIndex rows() const override { return n; }
  GlobalIndex columns() const override { return n; }
  std::string description() const override { return "full"; }
  CsrRows read(const Partition& partition) override {
    CsrRows rows;
    rows.row_begin = partition.begin(comm_.rank());
    rows.global_rows = rows.global_columns = n;
    for (GlobalIndex i = rows.row_begin; i < partition.end(comm_.rank()); ++i) {
      for (GlobalIndex j = 0; j < n; ++j) {
        rows.columns.push_back(j);
        rows.values.push_back(entry(i, j));
      }
      rows.row_offsets.push_back(static_cast<Offset>(rows.values.size()));
    }
    return rows;
  }

 private:
  Communicator comm_;
};

// Empty rows among them, and ranks without rows.
TEST(StoredZeros, AreNoEntries) {
  const Communicator comm(MPI_COMM_WORLD);
  WithoutStoredZeros source(comm, std::make_unique<Full>(comm));
  const Partition partition = Partition::uniform(n, comm.size());
  const CsrRows rows = source.read(partition);
  ASSERT_EQ(rows.rows(), partition.size(comm.rank()));
  ASSERT_EQ(rows.values.size(), rows.columns.size());
  std::size_t k = 0;
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    for (GlobalIndex j = 0; j < n; ++j) {
      const double value = entry(rows.row_begin + i, j);
      if (value == 0.0) continue;
      ASSERT_LT(k, rows.values.size());
      EXPECT_EQ(rows.columns[k], j);
      EXPECT_EQ(rows.values[k], value);
      ++k;
    }
    EXPECT_EQ(rows.row_offsets[static_cast<std::size_t>(i) + 1], static_cast<Offset>(k));
  }
  EXPECT_EQ(rows.values.size(), k);
  EXPECT_EQ(count_stored_zeros(rows), 0);
}

}  // namespace
}  // namespace block_eigs
