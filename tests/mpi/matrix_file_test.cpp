// Files that SciPy, h5py and PETSc wrote, read at any number of ranks, against what SciPy says is in them.
#include "io/formats/matrix_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "tests/support/matrix_files.hpp"

namespace block_eigs {
namespace {

/// All rows on the last rank, a few on the first: parts of very different sizes, and empty ones.
Partition lopsided(GlobalIndex rows, int parts) {
  std::vector<GlobalIndex> offsets(static_cast<std::size_t>(parts) + 1, std::min<GlobalIndex>(rows, 3));
  offsets.front() = 0;
  offsets.back() = rows;
  return Partition(offsets);
}

class MatrixFile : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::matrix_files_folder().empty()) GTEST_SKIP() << test::no_matrix_files;
    all_ = test::expected_matrices();
    ASSERT_GT(all_.size(), 50U);
  }

  static bool is_large(const test::Expected& matrix) { return matrix.path.find("/large") != std::string::npos; }

  const Communicator comm_{MPI_COMM_WORLD};
  std::vector<test::Expected> all_;
};

TEST_F(MatrixFile, HoldsWhatSciPySays) {
  for (const test::Expected& expected : all_) {
    if (is_large(expected)) continue;
    SCOPED_TRACE(expected.path + " " + expected.dataset);
    const auto source = open_matrix_file(comm_, expected.path, expected.dataset);
    ASSERT_EQ(source->rows(), expected.rows);
    ASSERT_EQ(source->columns(), expected.columns);
    EXPECT_NE(source->description().find(expected.path), std::string::npos);
    for (const Partition& partition :
         {Partition::uniform(expected.rows, comm_.size()), lopsided(expected.rows, comm_.size())}) {
      test::expect_matrix(comm_, partition, source->read(partition), expected);
    }
  }
}

TEST_F(MatrixFile, OfManyRowsIsReadInPartsAndQuickly) {
  double scipy = 0.0;
  std::ifstream(test::matrix_files_folder() + "/scipy_mmread.txt") >> scipy;
  int found = 0;
  for (const test::Expected& expected : all_) {
    if (!is_large(expected)) continue;
    SCOPED_TRACE(expected.path + " " + expected.dataset);
    EXPECT_EQ(expected.rows, 300000);
    comm_.barrier();
    const auto began = std::chrono::steady_clock::now();
    const auto source = open_matrix_file(comm_, expected.path, expected.dataset);
    const auto partition = Partition::uniform(expected.rows, comm_.size());
    const CsrRows rows = source->read(partition);
    const double seconds =
        comm_.max(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    test::expect_matrix(comm_, partition, rows, expected);
    ++found;
    if (!comm_.is_root()) continue;
    const auto bytes =
        static_cast<double>(std::filesystem::file_size(expected.path)) / (expected.path.ends_with(".h5") ? 2 : 1);
    std::printf("%-18s %-5s %d ranks: %7.1f MB/s of file, %6.1f million nonzeros/s",
                expected.path.substr(expected.path.rfind('/') + 1).c_str(), expected.dataset.c_str(), comm_.size(),
                bytes / seconds / 1e6, static_cast<double>(expected.nonzeros) / seconds / 1e6);
    std::printf(expected.path.ends_with(".mtx") ? "; SciPy's mmread %.1f MB/s\n" : "\n", scipy);
  }
  EXPECT_EQ(found, 14);
}

TEST_F(MatrixFile, CanBeReadByMoreRanksThanRows) {
  for (const test::Expected& expected : all_) {
    if (expected.rows > 6) continue;
    SCOPED_TRACE(expected.path + " " + expected.dataset);
    const auto source = open_matrix_file(comm_, expected.path, expected.dataset);
    std::vector<GlobalIndex> offsets(static_cast<std::size_t>(comm_.size()) + 1, expected.rows);
    offsets.front() = 0;
    const Partition all_on_first(offsets);
    test::expect_matrix(comm_, all_on_first, source->read(all_on_first), expected);
  }
}

}  // namespace
}  // namespace block_eigs
