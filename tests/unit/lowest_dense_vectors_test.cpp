#include "solver/small/lowest_dense_vectors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "solver/small/lapack.hpp"
#include "solver/small/lowest_by_components.hpp"
#include "tests/support/random_problem.hpp"

// Values that rounding errors of others hide from a dense solver: blocks of different sizes, whose eigenvalues are
// known block by block.
namespace block_eigs {
namespace {

struct Block {
  double size;                 ///< of the matrix
  std::vector<double> values;  ///< eigenvalues over that
};

/// H D H with the reflection H = I - 2 v v^T of a random v, which leaves no row as it was.
void put_block(test::Random& random, const Block& block, int first, SmallMatrix& matrix) {
  const auto n = static_cast<int>(block.values.size());
  SmallMatrix v = test::random_matrix(random, n, 1);
  double squared = 0.0;
  for (const double value : v.values()) squared += value * value;
  const auto reflection = [&](int i, int j) { return (i == j ? 1.0 : 0.0) - 2.0 * v(i, 0) * v(j, 0) / squared; };
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i <= j; ++i) {
      double sum = 0.0;
      for (int k = 0; k < n; ++k)
        sum += reflection(i, k) * block.values[static_cast<std::size_t>(k)] * reflection(k, j);
      matrix(first + i, first + j) = matrix(first + j, first + i) = block.size * sum;
    }
  }
}

SmallMatrix of_blocks(const std::vector<Block>& blocks) {
  std::size_t rows = 0;
  for (const Block& block : blocks) rows += block.values.size();
  SmallMatrix matrix(static_cast<int>(rows), static_cast<int>(rows));
  test::Random random(3);
  int first = 0;
  for (const Block& block : blocks) {
    put_block(random, block, first, matrix);
    first += static_cast<int>(block.values.size());
  }
  return matrix;
}

std::vector<double> from_one_to_two(int count) {
  std::vector<double> values;
  for (int k = 0; k < count; ++k) values.push_back(1.0 + static_cast<double>(k) / (count - 1));
  return values;
}

/// The lowest `count` of all blocks' eigenvalues.
std::vector<double> lowest_of(const std::vector<Block>& blocks, int count) {
  std::vector<double> values;
  for (const Block& block : blocks) {
    for (const double value : block.values) values.push_back(block.size * value);
  }
  std::sort(values.begin(), values.end());
  values.resize(static_cast<std::size_t>(count));
  return values;
}

/// Rayleigh quotients, each x^T A x / x^T B x.
std::vector<double> quotients(const SmallMatrix& a, const SmallMatrix& b, const SmallMatrix& vectors) {
  const SmallMatrix ax = lapack::product(a, false, vectors, false);
  const SmallMatrix bx = b.rows() > 0 ? lapack::product(b, false, vectors, false) : vectors;
  std::vector<double> result;
  for (int j = 0; j < vectors.cols(); ++j) {
    double energy = 0.0;
    double mass = 0.0;
    for (int i = 0; i < vectors.rows(); ++i) {
      energy += vectors(i, j) * ax(i, j);
      mass += vectors(i, j) * bx(i, j);
    }
    result.push_back(energy / mass);
  }
  return result;
}

void check(const std::vector<Block>& blocks, int count) {
  const SmallMatrix a = of_blocks(blocks);
  const SmallMatrix vectors = lowest_dense_vectors(a, {}, count, 1e-8);
  const std::vector<double> found = quotients(a, {}, vectors);
  const std::vector<double> exact = lowest_of(blocks, count);
  ASSERT_EQ(found.size(), exact.size());
  for (std::size_t j = 0; j < exact.size(); ++j) EXPECT_NEAR(found[j], exact[j], 1e-8 * std::abs(exact[j])) << j;
  const SmallMatrix gram = lapack::product(vectors, true, vectors, false);
  for (int j = 0; j < count; ++j) {
    for (int i = 0; i < count; ++i) EXPECT_NEAR(gram(i, j), i == j ? 1.0 : 0.0, 1e-12);
  }
}

TEST(LowestDenseVectors, BlocksFarSmallerThanTheLargest) {
  for (const int n : {40, 100, 350}) {
    for (const double size : {1e-8, 1e-12, 1e-14, 1e-15, 1e-17, 1e-20, 1e-25}) {
      SCOPED_TRACE(::testing::Message() << n << " rows each, size " << size);
      check({{1.0, from_one_to_two(n)}, {size, from_one_to_two(n)}}, 4);
      std::vector<double> one_negative = from_one_to_two(n);
      one_negative.front() = -5.0;
      check({{1.0, from_one_to_two(n)}, {size, one_negative}}, 4);
    }
  }
}

TEST(LowestDenseVectors, SmallerOnesWithinSmallOnes) {
  check({{1.0, from_one_to_two(120)}, {1e-14, from_one_to_two(150)}, {1e-28, from_one_to_two(80)}}, 6);
  check({{1e12, from_one_to_two(200)}, {1e-6, from_one_to_two(200)}}, 6);
}

// Large negative values come first, whatever the small ones behind them are taken for.
TEST(LowestDenseVectors, NegativeOnesBeforeHiddenOnes) {
  for (const int n : {40, 250}) {
    std::vector<double> mixed = from_one_to_two(n);
    mixed[0] = -5.0;
    mixed[1] = -4.0;
    mixed[2] = -3.0;
    for (const double size : {1e-14, 1e-17}) check({{1.0, mixed}, {size, from_one_to_two(n)}}, 6);
  }
}

TEST(LowestDenseVectors, AllOfThem) {
  check({{1.0, from_one_to_two(30)}, {1e-10, from_one_to_two(30)}}, 60);
  check({{1.0, from_one_to_two(70)}, {1e-6, from_one_to_two(70)}}, 140);
}

// Values of -2 to -1 are the lowest of -A: those of the largest block, which nothing hides.
TEST(LowestDenseVectors, NegativeOnesOfTheLargestBlock) {
  std::vector<double> negative = from_one_to_two(90);
  for (double& value : negative) value = -value;
  check({{1.0, negative}, {1e-16, from_one_to_two(90)}}, 5);
}

/// A free chain of springs of stiffness one, which is zero along (1, ..., 1), before a block.
SmallMatrix free_chain_and(const Block& block, int links) {
  const auto rows = static_cast<int>(block.values.size());
  SmallMatrix matrix(links + 1 + rows, links + 1 + rows);
  for (int i = 0; i < links; ++i) {
    matrix(i, i) += 1.0;
    matrix(i + 1, i + 1) += 1.0;
    matrix(i, i + 1) = matrix(i + 1, i) = -1.0;
  }
  test::Random random(3);
  put_block(random, block, links + 1, matrix);
  return matrix;
}

// Rounding errors of large rows leave as much of their zero as other rows are.
TEST(LowestDenseVectors, ZerosOfLargeRowsBesideSmallRows) {
  for (const int n : {60, 150}) {
    for (const double size : {1e-12, 1e-15, 1e-17, 1e-20}) {
      SCOPED_TRACE(::testing::Message() << n << " rows each, size " << size);
      const Block block{size, from_one_to_two(n)};
      const SmallMatrix a = free_chain_and(block, n - 1);
      const std::vector<double> found = quotients(a, {}, lowest_dense_vectors(a, {}, 5, 1e-8));
      const std::vector<double> exact = lowest_of({block}, 4);
      EXPECT_NEAR(found[0], 0.0, 1e-8 * size);
      for (std::size_t j = 0; j < exact.size(); ++j) EXPECT_NEAR(found[j + 1], exact[j], 1e-8 * exact[j]);
    }
  }
}

// The same blocks with a mass of 4 I.
TEST(LowestDenseVectors, PencilsWhoseLargestValuesHideOthers) {
  for (const int n : {45, 120}) {
    const SmallMatrix a = of_blocks({{1.0, from_one_to_two(n)}, {1e-15, from_one_to_two(n)}});
    SmallMatrix b = SmallMatrix::identity(2 * n);
    for (int j = 0; j < 2 * n; ++j) b(j, j) = 4.0;
    const SmallMatrix vectors = lowest_dense_vectors(a, b, 5, 1e-8);
    const std::vector<double> found = quotients(a, b, vectors);
    const std::vector<double> exact = lowest_of({{0.25e-15, from_one_to_two(n)}}, 5);
    for (std::size_t j = 0; j < exact.size(); ++j) EXPECT_NEAR(found[j], exact[j], 1e-8 * exact[j]) << n;
  }
}

double norm_of_rows(const SmallMatrix& a) {
  double norm = 0.0;
  for (int i = 0; i < a.rows(); ++i) {
    double sum = 0.0;
    for (int j = 0; j < a.cols(); ++j) sum += std::abs(a(i, j));
    norm = std::max(norm, sum);
  }
  return norm;
}

/// Stiffness and mass of a beam of cubic elements that nothing holds: two rigid motions, and values up to 1e12.
struct Beam {
  SmallMatrix stiffness;
  SmallMatrix mass;
};

Beam free_beam(int elements) {
  const int rows = 2 * (elements + 1);
  const double h = 1.0 / elements;
  const double k[4][4] = {{12, 6 * h, -12, 6 * h},
                          {6 * h, 4 * h * h, -6 * h, 2 * h * h},
                          {-12, -6 * h, 12, -6 * h},
                          {6 * h, 2 * h * h, -6 * h, 4 * h * h}};
  const double m[4][4] = {{156, 22 * h, 54, -13 * h},
                          {22 * h, 4 * h * h, 13 * h, -3 * h * h},
                          {54, 13 * h, 156, -22 * h},
                          {-13 * h, -3 * h * h, -22 * h, 4 * h * h}};
  Beam beam{SmallMatrix(rows, rows), SmallMatrix(rows, rows)};
  for (int e = 0; e < elements; ++e) {
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        beam.stiffness(2 * e + i, 2 * e + j) += k[i][j] / (h * h * h);
        beam.mass(2 * e + i, 2 * e + j) += m[i][j] * h / 420.0;
      }
    }
  }
  return beam;
}

// Residuals of the first pairs, whose values are lost in rounding errors of the stiffness.
TEST(LowestDenseVectors, RigidMotionsOfPencilsTooLongToRefineAll) {
  for (const int elements : {290, 320}) {
    const Beam beam = free_beam(elements);
    const SmallMatrix vectors = lowest_dense_vectors(beam.stiffness, beam.mass, 130, 1e-8);
    const SmallMatrix image = lapack::product(beam.stiffness, false, vectors, false);
    const double norm = norm_of_rows(beam.stiffness);
    for (int j = 0; j < 2; ++j) {
      double residual = 0.0, length = 0.0;
      for (int i = 0; i < vectors.rows(); ++i) {
        residual += image(i, j) * image(i, j);
        length += vectors(i, j) * vectors(i, j);
      }
      EXPECT_LT(std::sqrt(residual / length), 1e-15 * norm) << elements << " elements, pair " << j + 1;
    }
  }
}

/// One where rows are in different parts, else zero: an eigenvalue of zero for all rows but one of each part.
SmallMatrix multipartite(int parts, int size) {
  SmallMatrix a(parts * size, parts * size);
  for (int j = 0; j < a.cols(); ++j) {
    for (int i = 0; i < a.rows(); ++i) a(i, j) = i / size == j / size ? 0.0 : 1.0;
  }
  return a;
}

// A solver's own errors in them are several times as large.
TEST(LowestDenseVectors, ZerosByTheHundredAreLeftRoundingErrorsOfProducts) {
  for (const int count : {3, 40}) {
    const SmallMatrix a = multipartite(3, 250);
    const SmallMatrix vectors = lowest_dense_vectors(a, {}, count, 1e-8);
    const SmallMatrix images = lapack::product(a, false, vectors, false);
    const double rounding = std::sqrt(500.0) * std::numeric_limits<double>::epsilon() * norm_of_rows(a);
    const SmallMatrix gram = lapack::product(vectors, true, vectors, false);
    for (int j = 0; j < count; ++j) {
      const double value = j < 2 ? -250.0 : 0.0;
      double square = 0.0;
      for (int i = 0; i < a.rows(); ++i) square += std::pow(images(i, j) - value * vectors(i, j), 2);
      EXPECT_LT(std::sqrt(square), std::max(rounding, 1e-9 * std::abs(value))) << j;
      for (int i = 0; i < count; ++i) EXPECT_NEAR(gram(i, j), i == j ? 1.0 : 0.0, 1e-13);
    }
  }
}

/// Rows and columns of `matrix` in another order, which a reader of its pattern does not see blocks in.
SmallMatrix shuffled(const SmallMatrix& matrix) {
  const int n = matrix.rows();
  constexpr int stride = 7;
  SmallMatrix result(n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) result(i * stride % n, j * stride % n) = matrix(i, j);
  }
  return result;
}

// Sizes over forty decades: most of them are zero to a solver of all, and to a Cholesky factor of all.
TEST(LowestByComponents, BlocksOfAnySize) {
  std::vector<Block> blocks;
  for (int k = 0; k < 30; ++k)
    blocks.push_back({std::pow(10.0, k * 11 % 30 * 40.0 / 29.0 - 20.0), from_one_to_two(8)});
  const SmallMatrix a = shuffled(of_blocks(blocks));
  ASSERT_EQ(components_of(a, {}).size(), 30U);
  const SmallMatrix vectors = lowest_by_components(a, {}, 12, 1e-8, 1e-9);
  const std::vector<double> found = quotients(a, {}, vectors);
  const std::vector<double> exact = lowest_of(blocks, 12);
  for (std::size_t j = 0; j < exact.size(); ++j) EXPECT_NEAR(found[j], exact[j], 1e-12 * exact[j]) << j;
  // A pencil of these with their squares: the largest blocks have the smallest values.
  std::vector<Block> squares = blocks;
  std::vector<double> values;
  for (Block& block : squares) {
    for (double& value : block.values) {
      values.push_back(1.0 / (block.size * value));
      value *= value;
    }
    block.size *= block.size;
  }
  std::sort(values.begin(), values.end());
  const SmallMatrix b = shuffled(of_blocks(squares));
  const std::vector<double> of_pencil = quotients(a, b, lowest_by_components(a, b, 12, 1e-8, 1e-9));
  for (std::size_t j = 0; j < 12; ++j) EXPECT_NEAR(of_pencil[j], values[j], 1e-12 * values[j]) << j;
}

// A couples what B does not, and the other way round.
TEST(LowestByComponents, AreThoseOfBothMatrices) {
  SmallMatrix a = SmallMatrix::identity(5);
  SmallMatrix b = SmallMatrix::identity(5);
  a(4, 1) = a(1, 4) = 0.5;
  b(1, 3) = b(3, 1) = 0.25;
  EXPECT_EQ(components_of(a, b), (std::vector<std::vector<int>>{{0}, {1, 3, 4}, {2}}));
  EXPECT_EQ(components_of(a, {}).size(), 4U);
}

}  // namespace
}  // namespace block_eigs
