// Grid generators against Kronecker sums of one-dimensional matrices, and against closed forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "io/generate/generate.hpp"
#include "spmm/error.hpp"
#include "spmm/parallel/local_numbers.hpp"
#include "tests/support/dense_matrix.hpp"

namespace block_eigs::test {
namespace {

using ::testing::HasSubstr;

const Communicator& self() {
  static const Communicator comm(MPI_COMM_SELF);
  return comm;
}

// tridiag(off, middle, off)
DenseMatrix tridiagonal(int n, double off, double middle) {
  DenseMatrix result(n);
  for (int i = 0; i < n; ++i) {
    result(i, i) = middle;
    if (i > 0) result(i, i - 1) = result(i - 1, i) = off;
  }
  return result;
}

// I (x) I (x) ax + I (x) ay (x) I + az (x) I (x) I, x fastest.
DenseMatrix kronecker_sum(const DenseMatrix& ax, const DenseMatrix& ay, const DenseMatrix& az) {
  const DenseMatrix ix = identity(ax.size), iy = identity(ay.size), iz = identity(az.size);
  const DenseMatrix xy = sum(1.0, kronecker(iy, ax), 1.0, kronecker(ay, ix));
  return sum(1.0, kronecker(iz, xy), 1.0, kronecker(az, identity(xy.size)));
}

// (sum of all couplings) I - tz (x) ty (x) tx with t = tridiag(a, 1, a).
DenseMatrix box_stencil(const DenseMatrix& tx, const DenseMatrix& ty, const DenseMatrix& tz, double total) {
  const DenseMatrix product = kronecker(tz, kronecker(ty, tx));
  return sum(total, identity(product.size), -1.0, product);
}

void expect_same(const DenseMatrix& actual, const DenseMatrix& expected, double tolerance) {
  ASSERT_EQ(actual.size, expected.size);
  for (int i = 0; i < actual.size; ++i) {
    for (int j = 0; j < actual.size; ++j) ASSERT_NEAR(actual(i, j), expected(i, j), tolerance) << i << ", " << j;
  }
}

TEST(Laplacian, ThreePointsAreTheSecondDifference) {
  const auto source = laplacian1d(self(), {.size = {7}});
  expect_same(read_dense(*source), tridiagonal(7, -1.0, 2.0), 0.0);
}

TEST(Laplacian, FiveAndSevenPointsAreKroneckerSums) {
  const DenseMatrix point(1);
  const auto plane = laplacian2d(self(), {.size = {4, 3}});
  expect_same(read_dense(*plane), kronecker_sum(tridiagonal(4, -1, 2), tridiagonal(3, -1, 2), point), 0.0);
  const auto cube = laplacian3d(self(), {.size = {4, 3, 5}, .points = 7, .anisotropy = {1.0, 0.5, 8.0}});
  expect_same(read_dense(*cube),
              kronecker_sum(tridiagonal(4, -1, 2), tridiagonal(3, -0.5, 1.0), tridiagonal(5, -8, 16)), 0.0);
}

TEST(Laplacian, NineAndTwentySevenPointsAreKroneckerProducts) {
  const auto plane = laplacian2d(self(), {.size = {5, 4}, .points = 9});
  expect_same(read_dense(*plane), box_stencil(tridiagonal(5, 1, 1), tridiagonal(4, 1, 1), identity(1), 9.0), 0.0);
  const auto cube = laplacian3d(self(), {.size = {3, 4, 2}, .points = 27});
  const DenseMatrix dense = read_dense(*cube);
  EXPECT_EQ(dense(0, 0), 26.0);
  expect_same(dense, box_stencil(tridiagonal(3, 1, 1), tridiagonal(4, 1, 1), tridiagonal(2, 1, 1), 27.0), 0.0);
  const auto stretched = laplacian3d(self(), {.size = {3, 4, 2}, .points = 27, .anisotropy = {1.0, 0.5, 4.0}});
  expect_same(read_dense(*stretched),
              box_stencil(tridiagonal(3, 1, 1), tridiagonal(4, 0.5, 1), tridiagonal(2, 4, 1), 3.0 * 2.0 * 9.0),
              1e-14);
}

TEST(Laplacian, OneElementInADirectionIsFine) {
  const auto source = laplacian3d(self(), {.size = {1, 3, 1}});
  expect_same(read_dense(*source), tridiagonal(3, -1.0, 6.0), 0.0);
}

TEST(Laplacian, ColumnsAscendAndNothingIsStoredTwice) {
  const auto source = laplacian3d(self(), {.size = {5, 4, 3}, .points = 27});
  const CsrRows rows = read_all(*source);
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    for (Offset k = rows.row_offsets[static_cast<std::size_t>(i)] + 1;
         k < rows.row_offsets[static_cast<std::size_t>(i) + 1]; ++k) {
      ASSERT_LT(rows.columns[static_cast<std::size_t>(k) - 1], rows.columns[static_cast<std::size_t>(k)]);
    }
  }
}

TEST(ClosedForm, AgreesWithLapackForEveryStencil) {
  const std::vector<LaplacianOptions> cases{{.size = {30}},
                                            {.size = {9}, .anisotropy = {3.0}},
                                            {.size = {6, 6}},
                                            {.size = {7, 5}, .points = 9},
                                            {.size = {7, 5}, .points = 9, .anisotropy = {1.0, 0.01}},
                                            {.size = {5, 5, 5}},
                                            {.size = {5, 4, 3}, .points = 7, .anisotropy = {1.0, 10.0, 0.1}},
                                            {.size = {5, 4, 3}, .points = 27},
                                            {.size = {4, 4, 4}, .points = 27, .anisotropy = {2.0, 2.0, 0.5}}};
  for (const LaplacianOptions& options : cases) {
    const auto source = options.size.size() == 1   ? laplacian1d(self(), options)
                        : options.size.size() == 2 ? laplacian2d(self(), options)
                                                   : laplacian3d(self(), options);
    SCOPED_TRACE(source->description());
    const std::vector<double> expected = eigenvalues(read_dense(*source));
    for (const GlobalIndex count : {source->rows(), source->rows() / 3}) {
      const std::vector<double> closed = closed_form_laplacian_eigenvalues(options, count);
      ASSERT_EQ(closed.size(), static_cast<std::size_t>(count));
      for (std::size_t k = 0; k < closed.size(); ++k) ASSERT_NEAR(closed[k], expected[k], 1e-12 * expected.back());
    }
  }
}

TEST(ClosedForm, KeepsTheDigitsOfTheSmallestOfALongGrid) {
  // pi^2 x^2 (1 - pi^2 x^2 / 12 ...) with x = 1 / (n + 1), to all digits that double holds.
  const double x = M_PI / 1e6;
  const auto line = closed_form_laplacian_eigenvalues({.size = {999999}}, 1);
  EXPECT_NEAR(line[0] / (x * x), 1.0, 1e-12);
  const double y = M_PI / 1e3;
  const auto plane = closed_form_laplacian_eigenvalues({.size = {999, 999}, .points = 9}, 1);
  EXPECT_NEAR(plane[0] / (6.0 * y * y), 1.0, 1e-5);
}

TEST(Schroedinger, IsAKroneckerSumOfOscillators) {
  const auto oscillator = [](int n, double h, double omega) {
    DenseMatrix result = tridiagonal(n, -0.5 / (h * h), 1.0 / (h * h));
    for (int i = 0; i < n; ++i) result(i, i) += 0.5 * std::pow(omega * h * (i - 0.5 * (n - 1)), 2);
    return result;
  };
  const auto source = schroedinger3d(self(), {.size = {4, 5, 3}, .spacing = 0.4, .omega = {1.0, 2.0, 0.5}});
  expect_same(read_dense(*source),
              kronecker_sum(oscillator(4, 0.4, 1.0), oscillator(5, 0.4, 2.0), oscillator(3, 0.4, 0.5)), 1e-13);
}

TEST(Schroedinger, ComesNearTheContinuumAndMirrorsExactly) {
  const int n = 11;
  const auto source = schroedinger3d(self(), {.size = {n, n, n}, .spacing = 0.7});
  const CsrRows rows = read_all(*source);
  double top = 0.0;
  std::vector<double> diagonal;
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    for (Offset k = rows.row_offsets[static_cast<std::size_t>(i)];
         k < rows.row_offsets[static_cast<std::size_t>(i) + 1]; ++k) {
      if (rows.columns[static_cast<std::size_t>(k)] == i)
        diagonal.push_back(rows.values[static_cast<std::size_t>(k)]);
    }
  }
  ASSERT_EQ(diagonal.size(), static_cast<std::size_t>(n * n * n));
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    ASSERT_EQ(diagonal[i], diagonal[diagonal.size() - 1 - i]);
    top = std::max(top, diagonal[i]);
  }
  EXPECT_EQ(top, diagonal[0]);
  // E = omega (3/2 + k) with multiplicities 1, 3, 6; the grid's error is of order h^2.
  const std::vector<double> small =
      eigenvalues(read_dense(*schroedinger3d(self(), {.size = {9, 9, 9}, .spacing = 0.6})));
  EXPECT_NEAR(small[0], 1.5, 0.1);
  for (const std::size_t k : {1U, 2U, 3U}) EXPECT_NEAR(small[k], 2.5, 0.25);
  for (const std::size_t k : {4U, 9U}) EXPECT_NEAR(small[k], 3.5, 0.5);
}

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

TEST(Grids, SayWhatIsWrongWithTheirOptions) {
  EXPECT_THAT(message_of([] {
                laplacian3d(self(), {.size = {4, 4}});
              }),
              HasSubstr("size has 2 entries, it needs 3"));
  EXPECT_THAT(message_of([] { laplacian2d(self(), {.size = {4, 0}}); }), HasSubstr("must be positive"));
  EXPECT_THAT(message_of([] { laplacian3d(self(), {.size = {4, 4, 4}, .points = 9}); }), HasSubstr("7 or 27"));
  EXPECT_THAT(message_of([] { laplacian1d(self(), {.size = {4}, .points = 5}); }), HasSubstr("must be 3"));
  EXPECT_THAT(message_of([] { laplacian1d(self(), {.size = {4}, .anisotropy = {-1.0}}); }), HasSubstr("positive"));
  EXPECT_THAT(message_of([] { laplacian3d(self(), {.size = {1LL << 40, 1LL << 40, 2}}); }), HasSubstr("2^60"));
  EXPECT_THAT(message_of([] {
                schroedinger3d(self(), {.size = {4, 4, 4}, .spacing = 0.0});
              }),
              HasSubstr("spacing"));
  EXPECT_THAT(message_of([] { closed_form_laplacian_eigenvalues({.size = {4}}, 5); }),
              HasSubstr("5 eigenvalues of 4"));
  EXPECT_THAT(
      message_of([] { laplacian1d(self(), {.size = {1LL << 40}})->read(Partition::uniform(1LL << 40, 1)); }),
      HasSubstr(
          "rank 0 of 1 would own 1099511627776 rows, local numbers count to 2147483647; use 513 ranks or more"));
}

TEST(Partition, NamesTheRanksThatWouldDo) {
  constexpr GlobalIndex most = 2147483647;
  EXPECT_NO_THROW(require_local_numbers(most - 5, 5, 0, 2));
  EXPECT_THAT(
      message_of([] { require_local_numbers(most - 5, 6, 1, 2); }),
      HasSubstr("rank 1 of 2 would own 2147483642 rows beside 6 rows of other ranks, local numbers count to "
                "2147483647; use 4 ranks or more"));
  EXPECT_NO_THROW(Partition::uniform(2 * most, 2));
  EXPECT_THAT(message_of([] { Partition::uniform(2 * most + 1, 2); }),
              HasSubstr("rank 0 of 2 would own 2147483648"));
}

}  // namespace
}  // namespace block_eigs::test
