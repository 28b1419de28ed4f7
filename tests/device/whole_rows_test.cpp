#include "spmm/matrix/whole_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "spmm/cuda/runtime/cuda_backend.hpp"
#include "spmm/error.hpp"
#include "spmm/matrix/distributed_matrix.hpp"

// Rows of one rank on their way to a device, beside what the host makes of them.
namespace block_eigs {
namespace {

/// Symmetric in pattern, with empty rows, zero and negative diagonal entries and one row far above the others.
CsrRows random_rows(LocalIndex n) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> numbers(-1.0, 1.0);
  CsrRows rows;
  rows.global_rows = rows.global_columns = n;
  for (LocalIndex i = 0; i < n; ++i) {
    const bool long_row = i == n / 2;
    for (LocalIndex j = 0; j < n && i % 97 != 3; ++j) {
      if (!long_row && random() % static_cast<unsigned>(n) > 6U && !(j == i && i % 5 != 0)) continue;
      rows.columns.push_back(j);
      rows.values.push_back((long_row ? 1e4 : 1.0) * numbers(random));
    }
    rows.row_offsets.push_back(static_cast<Offset>(rows.columns.size()));
  }
  return rows;
}

class WholeRows : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::cuda && cuda::device_count() == 0)
      GTEST_SKIP() << "this machine has no GPU, or this build no CUDA backend: nothing was tested";
  }
};

template <class T>
std::vector<T> on_host(const Buffer<T>& buffer) {
  std::vector<T> values(buffer.size());
  buffer.download(values.data());
  return values;
}

TEST_P(WholeRows, ArriveAsTheyAre) {
  const auto device = make_device(GetParam(), 0);
  const CsrRows rows = random_rows(1500);
  const auto there = upload_whole(device, rows, {0, 1500});
  ASSERT_TRUE(there);
  EXPECT_EQ(there->pattern->rows, 1500);
  EXPECT_EQ(there->pattern->columns, 1500);
  EXPECT_EQ(on_host(there->pattern->row_offsets), rows.row_offsets);
  EXPECT_EQ(on_host(there->values), rows.values);
  const std::vector<LocalIndex> columns = on_host(there->pattern->column_indices);
  EXPECT_EQ(std::vector<GlobalIndex>(columns.begin(), columns.end()), rows.columns);
}

TEST_P(WholeRows, AreRefusedWhereSomethingIsWrong) {
  const auto device = make_device(GetParam(), 0);
  const CsrRows right = random_rows(1500);
  const auto is_refused = [&](auto spoil) {
    CsrRows rows = right;
    spoil(rows);
    return !upload_whole(device, rows, {0, 1500});
  };
  EXPECT_FALSE(is_refused([](CsrRows&) {}));
  for (const std::size_t k : {std::size_t{0}, right.columns.size() / 2, right.columns.size() - 1}) {
    EXPECT_TRUE(is_refused([k](CsrRows& rows) { rows.columns[k] = -1; })) << k;
    EXPECT_TRUE(is_refused([k](CsrRows& rows) { rows.columns[k] = 1500; })) << k;
    EXPECT_TRUE(is_refused([k](CsrRows& rows) { rows.columns[k] = (GlobalIndex{1} << 32) + 7; })) << k;
  }
  // The end of a row, twice: also where threads' parts meet.
  const auto last = static_cast<std::size_t>(right.row_offsets[751]) - 1;
  EXPECT_TRUE(is_refused([last](CsrRows& rows) { rows.columns[last] = rows.columns[last - 1]; }));
  EXPECT_TRUE(is_refused([](CsrRows& rows) { std::swap(rows.row_offsets[10], rows.row_offsets[12]); }));
  EXPECT_TRUE(is_refused([](CsrRows& rows) { rows.row_offsets.back() -= 1; }));
  EXPECT_TRUE(is_refused([](CsrRows& rows) { rows.values.pop_back(); }));
}

TEST_P(WholeRows, HaveTheNumbersThatTheHostFinds) {
  const Communicator comm(MPI_COMM_SELF);
  const CsrRows rows = random_rows(1500);
  const Partition partition = Partition::uniform(1500, 1);
  const DistributedMatrix<double> expected(make_context<double>(comm, Backend::host), rows, partition, partition);
  const DistributedMatrix<double> found(make_context<double>(comm, GetParam()), rows, partition, partition);
  EXPECT_EQ(found.norm_inf(), expected.norm_inf());
  EXPECT_EQ(found.typical_row_sum(), expected.typical_row_sum());
  EXPECT_EQ(found.scaled_gershgorin_bound(), expected.scaled_gershgorin_bound());
  EXPECT_EQ(found.jacobi_bound(), expected.jacobi_bound());
  EXPECT_EQ(found.global_nonzeros(), expected.global_nonzeros());
  EXPECT_EQ(found.diagonal(), expected.diagonal());
  EXPECT_EQ(found.jacobi_diagonal(), expected.jacobi_diagonal());
  EXPECT_EQ(found.row_sums(), expected.row_sums());
  EXPECT_FALSE(expected.row_sums().empty());
  EXPECT_NE(expected.jacobi_diagonal(), expected.diagonal());
}

std::string complaint(Backend backend, const CsrRows& rows) {
  const Communicator comm(MPI_COMM_SELF);
  const Partition partition = Partition::uniform(rows.rows(), 1);
  try {
    DistributedMatrix<double>(make_context<double>(comm, backend), rows, partition, partition);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_P(WholeRows, AreFoundWrongInTheSameWords) {
  CsrRows rows = random_rows(1500);
  std::swap(rows.columns[20], rows.columns[21]);
  EXPECT_NE(complaint(GetParam(), rows), "");
  EXPECT_EQ(complaint(GetParam(), rows), complaint(Backend::host, rows));
  rows.columns[20] = 1500;
  EXPECT_NE(complaint(GetParam(), rows), "");
  EXPECT_EQ(complaint(GetParam(), rows), complaint(Backend::host, rows));
}

INSTANTIATE_TEST_SUITE_P(Backends, WholeRows, ::testing::Values(Backend::host, Backend::cuda),
                         [](const auto& backend) { return std::string(name_of(backend.param)); });

}  // namespace
}  // namespace block_eigs
