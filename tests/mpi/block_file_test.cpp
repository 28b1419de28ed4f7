// Dense blocks out of HDF5 and Matrix Market array files: element (i, j) is i + j / 16.
#include "io/formats/block_file.hpp"

#include <gtest/gtest.h>

#include "tests/support/matrix_files.hpp"

namespace block_eigs {
namespace {

constexpr GlobalIndex block_rows = 83;

class BlockFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = test::matrix_files_folder();
    if (folder_.empty()) GTEST_SKIP() << test::no_matrix_files;
  }

  /// The vectors read are `wanted` (by their number in the whole block).
  void expect_vectors(BlockSource& source, GlobalIndex first, const std::vector<int>& wanted) {
    ASSERT_EQ(source.rows(), block_rows);
    for (const Partition& partition : {Partition::uniform(block_rows, comm_.size()), one_rank_has_all()}) {
      const auto count = static_cast<LocalIndex>(wanted.size());
      const std::vector<double> values = source.read(partition, first, count);
      ASSERT_EQ(values.size(), static_cast<std::size_t>(partition.size(comm_.rank())) * wanted.size());
      std::size_t k = 0;
      for (GlobalIndex i = partition.begin(comm_.rank()); i < partition.end(comm_.rank()); ++i) {
        for (const int j : wanted) EXPECT_EQ(values[k++], static_cast<double>(i) + j / 16.0) << i << ' ' << j;
      }
    }
  }

  Partition one_rank_has_all() const {
    std::vector<GlobalIndex> offsets(static_cast<std::size_t>(comm_.size()) + 1, 0);
    offsets.back() = block_rows;
    return Partition(offsets);
  }

  std::string failure(const std::string& file, const std::vector<std::string>& datasets) {
    return test::refusal(comm_, [&] {
      const auto source = open_block_file(comm_, folder_ + "/" + file, datasets);
      source->read(Partition::uniform(source->rows(), comm_.size()), 0,
                   static_cast<LocalIndex>(source->columns()));
    });
  }

  const Communicator comm_{MPI_COMM_WORLD};
  std::string folder_;
};

TEST_F(BlockFile, Hdf5DatasetsInEveryLayout) {
  for (const char* dataset : {"V", "/float32", "matlab"}) {
    SCOPED_TRACE(dataset);
    const auto source = open_block_file(comm_, folder_ + "/block.h5", {dataset});
    EXPECT_EQ(source->columns(), 5);
    expect_vectors(*source, 0, {0, 1, 2, 3, 4});
    expect_vectors(*source, 2, {2, 3});
    expect_vectors(*source, 4, {4});
  }
  expect_vectors(*open_block_file(comm_, folder_ + "/only_block.h5"), 0, {0, 1, 2, 3, 4});
}

TEST_F(BlockFile, ListOfVectorsStandsSideBySide) {
  const auto source = open_block_file(comm_, folder_ + "/block.h5", {"second", "V", "first"});
  EXPECT_EQ(source->columns(), 7);
  expect_vectors(*source, 0, {1, 0, 1, 2, 3, 4, 0});
  expect_vectors(*source, 4, {3, 4, 0});
}

TEST_F(BlockFile, MatrixMarketArrays) {
  for (const char* file : {"/block.mtx", "/block.mtx.gz"}) {
    SCOPED_TRACE(file);
    const auto source = open_block_file(comm_, folder_ + file);
    EXPECT_EQ(source->columns(), 5);
    expect_vectors(*source, 0, {0, 1, 2, 3, 4});
    expect_vectors(*source, 1, {1, 2});
  }
}

TEST_F(BlockFile, RefusesWhatIsNoBlock) {
  test::expect_said(failure("block.h5", {}), "its datasets are /V");
  test::expect_said(failure("block.h5", {"W"}), "has no dataset /W; its datasets are");
  test::expect_said(failure("block.h5", {"group"}), "is a group");
  test::expect_said(failure("endless.h5", {"V"}), "more elements than can be counted");
  test::expect_said(failure("block.h5", {"cube"}), "3 dimensions");
  test::expect_said(failure("block.h5", {"complex"}), "complex");
  test::expect_said(failure("block.h5", {"nan"}), "row 20, column 3 (counted from 0) is nan");
  test::expect_said(failure("block.h5", {"V", "short"}), "equally long");
  test::expect_said(failure("general.mtx", {}), "'matrix array'");
  test::expect_said(failure("short_block.mtx", {}), "5 entries, but line 2 promises 6");
  test::expect_said(failure("block.mtx", {"V"}), "leave out 'dataset'");
  test::expect_said(failure("plain.petsc", {}), "sparse matrix");
  test::expect_said(failure("nowhere.h5", {"V"}), "no such file");
}

}  // namespace
}  // namespace block_eigs
