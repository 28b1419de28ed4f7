#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "spmm/cuda/runtime/cuda_backend.hpp"
#include "spmm/error.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/distributed_matrix.hpp"

// Distributed products, and what is known of a matrix, against a dense reference that every rank computes for
// itself.
namespace block_eigs {
namespace {

struct Shape {
  GlobalIndex rows;
  GlobalIndex columns;
  double fill;
};

/// The same pseudo-random matrix on all ranks, row-major; empty rows among others.
std::vector<double> reference_matrix(const Shape& shape) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  std::uniform_real_distribution<double> chance(0.0, 1.0);
  std::vector<double> matrix(static_cast<std::size_t>(shape.rows * shape.columns), 0.0);
  for (GlobalIndex i = 0; i < shape.rows; ++i) {
    const double fill = i % 5 == 3 ? 0.0 : (i % 11 == 0 ? 1.0 : shape.fill);
    for (GlobalIndex j = 0; j < shape.columns; ++j) {
      const double v = value(random);
      if (chance(random) < fill) matrix[static_cast<std::size_t>(i * shape.columns + j)] = v;
    }
  }
  return matrix;
}

CsrRows own_rows(const std::vector<double>& matrix, const Shape& shape, const Partition& partition, int rank) {
  CsrRows rows;
  rows.row_begin = partition.begin(rank);
  rows.global_rows = shape.rows;
  rows.global_columns = shape.columns;
  for (GlobalIndex i = partition.begin(rank); i < partition.end(rank); ++i) {
    for (GlobalIndex j = 0; j < shape.columns; ++j) {
      const double value = matrix[static_cast<std::size_t>(i * shape.columns + j)];
      if (value == 0.0) continue;
      rows.columns.push_back(j);
      rows.values.push_back(value);
    }
    rows.row_offsets.push_back(static_cast<Offset>(rows.values.size()));
  }
  return rows;
}

double x_value(GlobalIndex row, LocalIndex column) {
  return std::sin(0.3 * static_cast<double>(row) + 0.7 * column);
}

class DistributedMatrixTest : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::cuda && cuda::device_count() == 0)
      GTEST_SKIP() << "this machine has no GPU, or this build no CUDA backend: nothing was tested";
  }
};

template <class T>
void expect_product(Backend backend, const Shape& shape, const Partition& row_partition,
                    const Partition& column_partition) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto context = make_context<T>(comm, backend);
  const std::vector<double> reference = reference_matrix(shape);
  DistributedMatrix<T> matrix(context, own_rows(reference, shape, row_partition, comm.rank()), row_partition,
                              column_partition);
  // Two widths, then the first again: buffers grow and are used in part.
  for (const LocalIndex cols : {3, 17, 1}) {
    DenseBlock<T> x(context.device, matrix.columns(), cols);
    DenseBlock<T> y(context.device, matrix.rows(), cols);
    std::vector<T> values;
    for (LocalIndex i = 0; i < matrix.columns(); ++i) {
      for (LocalIndex j = 0; j < cols; ++j)
        values.push_back(static_cast<T>(x_value(column_partition.begin(comm.rank()) + i, j)));
    }
    x.from_host(values.data());
    matrix.apply(x.view(), y.view());
    const std::vector<T> result = y.to_host();
    const double tolerance =
        100.0 * std::numeric_limits<T>::epsilon() * std::sqrt(static_cast<double>(shape.columns));
    for (LocalIndex i = 0; i < matrix.rows(); ++i) {
      for (LocalIndex j = 0; j < cols; ++j) {
        double expected = 0.0;
        const GlobalIndex row = row_partition.begin(comm.rank()) + i;
        for (GlobalIndex k = 0; k < shape.columns; ++k) {
          expected += reference[static_cast<std::size_t>(row * shape.columns + k)] * x_value(k, j);
        }
        ASSERT_NEAR(result[static_cast<std::size_t>(i * cols + j)], expected, tolerance) << row << " " << j;
      }
    }
  }
}

TEST_P(DistributedMatrixTest, SquareMatchesDense) {
  const int p = Communicator(MPI_COMM_WORLD).size();
  const Partition rows = Partition::uniform(97, p);
  expect_product<double>(GetParam(), {97, 97, 0.1}, rows, rows);
  expect_product<float>(GetParam(), {97, 97, 0.1}, rows, rows);
}

TEST_P(DistributedMatrixTest, RectangularMatchesDense) {
  const int p = Communicator(MPI_COMM_WORLD).size();
  expect_product<double>(GetParam(), {60, 23, 0.2}, Partition::uniform(60, p), Partition::uniform(23, p));
  expect_product<double>(GetParam(), {23, 60, 0.2}, Partition::uniform(23, p), Partition::uniform(60, p));
}

TEST_P(DistributedMatrixTest, EmptyRanksAndFewerRowsThanRanks) {
  const int p = Communicator(MPI_COMM_WORLD).size();
  expect_product<double>(GetParam(), {2, 2, 1.0}, Partition::uniform(2, p), Partition::uniform(2, p));
  std::vector<GlobalIndex> all_on_last(static_cast<std::size_t>(p) + 1, 0);
  all_on_last.back() = 41;
  expect_product<double>(GetParam(), {41, 41, 0.3}, Partition(all_on_last), Partition(all_on_last));
}

TEST_P(DistributedMatrixTest, DiagonalNormsAndCounts) {
  const Communicator comm(MPI_COMM_WORLD);
  const Shape shape{50, 50, 0.2};
  const std::vector<double> reference = reference_matrix(shape);
  const Partition partition = Partition::uniform(50, comm.size());
  DistributedMatrix<double> matrix(make_context<double>(comm, GetParam()),
                                   own_rows(reference, shape, partition, comm.rank()), partition, partition);
  double norm = 0.0;
  double bound = 0.0;
  std::int64_t nonzeros = 0;
  for (std::size_t i = 0; i < 50; ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < 50; ++j) {
      sum += std::abs(reference[i * 50 + j]);
      nonzeros += reference[i * 50 + j] != 0.0 ? 1 : 0;
    }
    norm = std::max(norm, sum);
    const double d = reference[i * 51];
    bound = std::max(bound, sum / (d != 0.0 ? std::abs(d) : 1.0));
  }
  EXPECT_DOUBLE_EQ(matrix.norm_inf(), norm);
  EXPECT_DOUBLE_EQ(matrix.scaled_gershgorin_bound(), bound);
  EXPECT_EQ(matrix.global_nonzeros(), nonzeros);
  EXPECT_EQ(comm.sum(std::int64_t{matrix.nonzeros()}), nonzeros);
  std::vector<GlobalIndex> ghosts;
  for (GlobalIndex j = 0; j < 50; ++j) {
    const bool is_own = j >= partition.begin(comm.rank()) && j < partition.end(comm.rank());
    bool occurs = false;
    for (GlobalIndex i = partition.begin(comm.rank()); i < partition.end(comm.rank()); ++i)
      occurs = occurs || reference[static_cast<std::size_t>(i * 50 + j)] != 0.0;
    if (occurs && !is_own) ghosts.push_back(j);
  }
  EXPECT_EQ(matrix.ghost_columns(), ghosts);
  EXPECT_EQ(matrix.ghosts(), static_cast<LocalIndex>(ghosts.size()));
  for (LocalIndex i = 0; i < matrix.rows(); ++i) {
    const auto row = static_cast<std::size_t>(partition.begin(comm.rank()) + i);
    EXPECT_EQ(matrix.diagonal()[static_cast<std::size_t>(i)], reference[row * 51]);
  }
}

TEST_P(DistributedMatrixTest, InFloatIsTheMatrixOfRoundedRows) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto context = make_context<double>(comm, GetParam());
  const auto float_context = with_precision<float>(context);
  const Shape shape{23, 23, 0.3};
  const Partition partition = Partition::uniform(shape.rows, comm.size());
  const std::vector<double> reference = reference_matrix(shape);
  const auto rows = [&] { return own_rows(reference, shape, partition, comm.rank()); };
  const DistributedMatrix<double> matrix(context, rows(), partition, partition);
  const std::unique_ptr<DistributedMatrix<float>> copy = in_float(float_context, matrix);
  DistributedMatrix<float>& rounded = *copy;
  DistributedMatrix<float> expected(float_context, rows(), partition, partition);
  DenseBlock<float> x(context.device, matrix.columns(), 5);
  std::vector<float> values;
  for (LocalIndex i = 0; i < matrix.columns(); ++i) {
    for (LocalIndex j = 0; j < x.cols(); ++j)
      values.push_back(static_cast<float>(x_value(partition.begin(comm.rank()) + i, j)));
  }
  x.from_host(values.data());
  DenseBlock<float> y(context.device, matrix.rows(), 5);
  DenseBlock<float> z(context.device, matrix.rows(), 5);
  rounded.apply(x.view(), y.view());
  expected.apply(x.view(), z.view());
  EXPECT_EQ(y.to_host(), z.to_host());
  EXPECT_EQ(rounded.jacobi_diagonal(), expected.jacobi_diagonal());
  EXPECT_EQ(rounded.norm_inf(), expected.norm_inf());
  EXPECT_EQ(rounded.typical_row_sum(), expected.typical_row_sum());
  EXPECT_EQ(rounded.jacobi_bound(), expected.jacobi_bound());
  EXPECT_EQ(rounded.ghosts(), expected.ghosts());
  EXPECT_EQ(rounded.global_nonzeros(), expected.global_nonzeros());
  EXPECT_EQ(rounded.own_columns().pattern(), matrix.own_columns().pattern());
}

TEST_P(DistributedMatrixTest, AColumnOutOfRangeOnOneRankFailsOnAll) {
  const Communicator comm(MPI_COMM_WORLD);
  const Partition partition = Partition::uniform(8, comm.size());
  CsrRows rows;
  rows.row_begin = partition.begin(comm.rank());
  rows.global_rows = 8;
  rows.global_columns = 8;
  rows.row_offsets.assign(static_cast<std::size_t>(partition.size(comm.rank())) + 1, 0);
  if (comm.is_root()) {
    rows.columns = {8};
    rows.values = {1.0};
    rows.row_offsets.back() = 1;
  }
  EXPECT_THROW(
      DistributedMatrix<double>(make_context<double>(comm, GetParam()), std::move(rows), partition, partition),
      Error);
}

INSTANTIATE_TEST_SUITE_P(Backends, DistributedMatrixTest, ::testing::Values(Backend::host, Backend::cuda),
                         [](const auto& backend) { return std::string(name_of(backend.param)); });

}  // namespace
}  // namespace block_eigs
