// Random matrices and graphs: what their descriptions promise.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "io/generate/generate.hpp"
#include "io/generate/generate_draws.hpp"
#include "spmm/error.hpp"
#include "tests/support/dense_matrix.hpp"

namespace block_eigs::test {
namespace {

const Communicator& self() {
  static const Communicator comm(MPI_COMM_SELF);
  return comm;
}

void expect_symmetric(const DenseMatrix& matrix) {
  for (int i = 0; i < matrix.size; ++i) {
    for (int j = 0; j < i; ++j) ASSERT_EQ(matrix(i, j), matrix(j, i)) << i << ", " << j;
  }
}

// Columns of each row ascend, none twice.
void expect_sorted(const CsrRows& rows) {
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    for (Offset k = rows.row_offsets[static_cast<std::size_t>(i)] + 1;
         k < rows.row_offsets[static_cast<std::size_t>(i) + 1]; ++k) {
      ASSERT_LT(rows.columns[static_cast<std::size_t>(k) - 1], rows.columns[static_cast<std::size_t>(k)]);
    }
  }
}

TEST(Draws, AreUniformAndUncorrelated) {
  // 4 standard deviations of the mean, variance and lagged products of 10^6 uniform numbers on [-1, 1).
  constexpr int rows = 1000;
  double mean = 0.0, square = 0.0, along_i = 0.0, along_j = 0.0, seeds = 0.0;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < rows; ++j) {
      const double u = draw_signed(7, i, j);
      mean += u;
      square += u * u;
      along_i += u * draw_signed(7, i + 1, j);
      along_j += u * draw_signed(7, i, j + 1);
      seeds += u * draw_signed(8, i, j);
    }
  }
  const double n = 1e6;
  EXPECT_LT(std::abs(mean / n), 4.0 * std::sqrt(1.0 / 3.0 / n));
  EXPECT_LT(std::abs(square / n - 1.0 / 3.0), 4.0 * std::sqrt(4.0 / 45.0 / n));
  for (const double product : {along_i, along_j, seeds})
    EXPECT_LT(std::abs(product / n), 4.0 / 3.0 / std::sqrt(n));
}

TEST(RandomUniform, HasExactlyThatManyDistinctColumnsARow) {
  for (const GlobalIndex per_row : {0, 1, 7, 40}) {
    const auto source = random_uniform(self(), {.rows = 40, .per_row = per_row, .symmetric = false});
    const CsrRows rows = read_all(*source);
    for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(rows.row_offsets[i + 1] - rows.row_offsets[i], per_row);
    expect_sorted(rows);
    for (const double value : rows.values) EXPECT_TRUE(value >= -1.0 && value < 1.0);
  }
}

TEST(RandomUniform, FavoursNoColumn) {
  // Counts are binomial with mean 400; 10 bins of 4000 deviate by less than 5 standard deviations.
  const auto source = random_uniform(self(), {.rows = 400, .per_row = 100, .symmetric = false});
  std::vector<double> bins(10, 0.0);
  for (const GlobalIndex column : read_all(*source).columns) bins[static_cast<std::size_t>(column / 40)] += 1.0;
  for (const double count : bins) EXPECT_NEAR(count, 4000.0, 5.0 * std::sqrt(4000.0));
}

TEST(RandomUniform, SymmetricKeepsTheMeanRowLength) {
  const auto source = random_uniform(self(), {.rows = 300, .per_row = 12});
  const CsrRows rows = read_all(*source);
  expect_sorted(rows);
  expect_symmetric(to_dense(rows));
  EXPECT_NEAR(static_cast<double>(rows.nonzeros()) / 300.0, 12.0, 0.5);
}

TEST(RandomUniform, SeedsDiffer) {
  const auto values = [](std::uint64_t seed) {
    return read_all(*random_uniform(self(), {.rows = 50, .per_row = 5, .seed = seed, .symmetric = false})).values;
  };
  EXPECT_EQ(values(3), values(3));
  EXPECT_NE(values(3), values(4));
}

TEST(RandomBanded, StaysInTheBand) {
  const auto full = random_banded(self(), {.rows = 30, .bandwidth = 4, .symmetric = false});
  EXPECT_EQ(read_all(*full).nonzeros(), 30 * 9 - 2 * (4 + 3 + 2 + 1));
  const auto thin = random_banded(self(), {.rows = 500, .bandwidth = 20, .density = 0.25});
  const CsrRows rows = read_all(*thin);
  expect_sorted(rows);
  const DenseMatrix dense = to_dense(rows);
  expect_symmetric(dense);
  for (int i = 0; i < 500; ++i) {
    for (int j = 0; j < 500; ++j) {
      ASSERT_TRUE(std::abs(i - j) <= 20 || dense(i, j) == 0.0) << i << ", " << j;
    }
  }
  EXPECT_NEAR(static_cast<double>(rows.nonzeros()) / (500.0 * 41.0 - 420.0), 0.25, 0.02);
  EXPECT_EQ(read_all(*random_banded(self(), {.rows = 3, .bandwidth = 100})).nonzeros(), 9);
}

TEST(RandomSpd, HasNoEigenvalueBelowItsShift) {
  const auto source = random_spd(self(), {.rows = 200, .per_row = 8, .shift = 0.125});
  const CsrRows rows = read_all(*source);
  expect_sorted(rows);
  const DenseMatrix dense = to_dense(rows);
  expect_symmetric(dense);
  const std::vector<double> spectrum = eigenvalues(dense);
  EXPECT_GE(spectrum.front(), 0.125);
  EXPECT_GT(spectrum.back(), 1.0);
}

TEST(Rmat, FillsQuadrantsWithTheirProbabilities) {
  RmatOptions options{.scale = 12, .edge_factor = 1, .symmetric = false};
  options.probabilities = {0.4, 0.3, 0.2, 0.1};
  const CsrRows rows = read_all(*rmat(self(), options));
  expect_sorted(rows);
  std::vector<double> quadrant(4, 0.0);
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    for (Offset k = rows.row_offsets[static_cast<std::size_t>(i)];
         k < rows.row_offsets[static_cast<std::size_t>(i) + 1]; ++k) {
      const GlobalIndex column = rows.columns[static_cast<std::size_t>(k)];
      ASSERT_NE(column, i);
      ASSERT_EQ(rows.values[static_cast<std::size_t>(k)], 1.0);
      quadrant[static_cast<std::size_t>(2 * (i >= 2048) + (column >= 2048))] += 1.0;
    }
  }
  // Few of the 4096 edges repeat; 5 standard deviations.
  for (std::size_t q = 0; q < 4; ++q) {
    const double expected = 4096.0 * options.probabilities[q];
    EXPECT_NEAR(quadrant[q], expected, 5.0 * std::sqrt(expected) + 0.02 * expected) << q;
  }
}

TEST(Rmat, SymmetricIsTheUnionWithItsTranspose) {
  const RmatOptions both{.scale = 7, .edge_factor = 4};
  RmatOptions one_way = both;
  one_way.symmetric = false;
  const DenseMatrix graph = read_dense(*rmat(self(), both));
  const DenseMatrix arrows = read_dense(*rmat(self(), one_way));
  expect_symmetric(graph);
  for (int i = 0; i < graph.size; ++i) {
    for (int j = 0; j < graph.size; ++j) ASSERT_EQ(graph(i, j), std::max(arrows(i, j), arrows(j, i)));
  }
}

TEST(GraphLaplacian, IsDegreesMinusAdjacency) {
  const RmatOptions options{.scale = 7, .edge_factor = 3, .seed = 5};
  const DenseMatrix graph = read_dense(*rmat(self(), options));
  const CsrRows rows = read_all(*graph_laplacian(self(), options));
  expect_sorted(rows);
  const DenseMatrix laplacian = to_dense(rows);
  for (int i = 0; i < graph.size; ++i) {
    double degree = 0.0;
    for (int j = 0; j < graph.size; ++j) degree += graph(i, j);
    for (int j = 0; j < graph.size; ++j) ASSERT_EQ(laplacian(i, j), i == j ? degree : -graph(i, j));
  }
  EXPECT_EQ(rows.nonzeros(), read_all(*rmat(self(), options)).nonzeros() + 128);  // a diagonal entry in every row
}

TEST(RandomMatrices, RefuseImpossibleOptions) {
  EXPECT_THROW(random_uniform(self(), {.rows = 0}), InputError);
  EXPECT_THROW(random_uniform(self(), {.rows = 5, .per_row = 6}), InputError);
  EXPECT_THROW(random_banded(self(), {.rows = 5, .density = 1.5}), InputError);
  EXPECT_THROW(random_spd(self(), {.rows = 5, .per_row = 2, .shift = 0.0}), InputError);
  EXPECT_THROW(rmat(self(), {.scale = 0}), InputError);
  EXPECT_THROW(rmat(self(), {.probabilities = {0.5, 0.5, 0.5, 0.5}}), InputError);
  EXPECT_THROW(graph_laplacian(self(), {.symmetric = false}), InputError);
}

}  // namespace
}  // namespace block_eigs::test
