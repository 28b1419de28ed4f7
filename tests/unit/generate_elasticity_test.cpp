// Q1 elasticity against an assembly by Gauss points and strain matrices, and against mechanics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "io/generate/generate.hpp"
#include "spmm/error.hpp"
#include "tests/support/dense_matrix.hpp"

namespace block_eigs::test {
namespace {

const Communicator& self() {
  static const Communicator comm(MPI_COMM_SELF);
  return comm;
}

using Strain = std::array<std::array<double, 24>, 6>;

// The strain-displacement matrix of Voigt notation at a point of the unit cube, corners with x fastest.
Strain strain_at(double x, double y, double z) {
  Strain b{};
  const double t[3] = {x, y, z};
  for (int corner = 0; corner < 8; ++corner) {
    const int bit[3] = {corner & 1, corner >> 1 & 1, corner >> 2 & 1};
    double gradient[3];
    for (int i = 0; i < 3; ++i) {
      gradient[i] = bit[i] ? 1.0 : -1.0;
      for (int d = 0; d < 3; ++d) {
        if (d != i) gradient[i] *= bit[d] ? t[d] : 1.0 - t[d];
      }
    }
    const auto u = static_cast<std::size_t>(3 * corner);
    b[0][u] = gradient[0];
    b[1][u + 1] = gradient[1];
    b[2][u + 2] = gradient[2];
    b[3][u + 1] = gradient[2], b[3][u + 2] = gradient[1];
    b[4][u] = gradient[2], b[4][u + 2] = gradient[0];
    b[5][u] = gradient[1], b[5][u + 1] = gradient[0];
  }
  return b;
}

// sum over Gauss points of B^T D B / 8, D being Hooke's law in terms of E and nu.
DenseMatrix element_stiffness(double young, double poisson) {
  const double factor = young / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
  DenseMatrix hooke(6);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) hooke(i, j) = factor * (i == j ? 1.0 - poisson : poisson);
    hooke(i + 3, i + 3) = factor * (1.0 - 2.0 * poisson) / 2.0;
  }
  const double g[2] = {0.5 - 0.5 / std::sqrt(3.0), 0.5 + 0.5 / std::sqrt(3.0)};
  DenseMatrix result(24);
  for (int q = 0; q < 8; ++q) {
    const Strain b = strain_at(g[q & 1], g[q >> 1 & 1], g[q >> 2 & 1]);
    for (std::size_t r = 0; r < 24; ++r) {
      for (std::size_t c = 0; c < 24; ++c) {
        for (std::size_t i = 0; i < 6; ++i) {
          for (std::size_t j = 0; j < 6; ++j) {
            result(static_cast<int>(r), static_cast<int>(c)) +=
                b[i][r] * hooke(static_cast<int>(i), static_cast<int>(j)) * b[j][c] / 8.0;
          }
        }
      }
    }
  }
  return result;
}

// Element by element into all nodes, then the rows of the nodes with x > 0.
DenseMatrix assembled(const ElasticityOptions& options) {
  const int ex = static_cast<int>(options.size[0]), ey = static_cast<int>(options.size[1]),
            ez = static_cast<int>(options.size[2]);
  const DenseMatrix element = element_stiffness(options.young, options.poisson);
  const auto number = [&](int x, int y, int z) { return x + (ex + 1) * (y + (ey + 1) * z); };
  DenseMatrix all(3 * (ex + 1) * (ey + 1) * (ez + 1));
  for (int e = 0; e < ex * ey * ez; ++e) {
    const int x = e % ex, y = e / ex % ey, z = e / ex / ey;
    for (int r = 0; r < 24; ++r) {
      for (int c = 0; c < 24; ++c) {
        const int a = r / 3, b = c / 3;
        all(3 * number(x + (a & 1), y + (a >> 1 & 1), z + (a >> 2)) + r % 3,
            3 * number(x + (b & 1), y + (b >> 1 & 1), z + (b >> 2)) + c % 3) += element(r, c);
      }
    }
  }
  if (!options.clamped) return all;
  std::vector<int> kept;
  for (int i = 0; i < all.size; ++i) {
    if (i / 3 % (ex + 1) != 0) kept.push_back(i);
  }
  DenseMatrix result(static_cast<int>(kept.size()));
  for (int i = 0; i < result.size; ++i) {
    for (int j = 0; j < result.size; ++j) {
      result(i, j) = all(kept[static_cast<std::size_t>(i)], kept[static_cast<std::size_t>(j)]);
    }
  }
  return result;
}

const std::vector<ElasticityOptions> cases{{.size = {2, 2, 2}, .clamped = false},
                                           {.size = {1, 1, 1}},
                                           {.size = {3, 1, 2}, .young = 200.0, .poisson = 0.25},
                                           {.size = {1, 3, 2}, .young = 2.0, .poisson = 0.45, .clamped = false},
                                           {.size = {2, 3, 3}, .poisson = -0.2}};

TEST(Elasticity, AgreesWithAnAssemblyByGaussPoints) {
  for (const ElasticityOptions& options : cases) {
    const auto source = elasticity3d(self(), options);
    SCOPED_TRACE(source->description());
    const DenseMatrix actual = read_dense(*source);
    const DenseMatrix expected = assembled(options);
    ASSERT_EQ(actual.size, expected.size);
    for (int i = 0; i < actual.size; ++i) {
      for (int j = 0; j < actual.size; ++j) {
        ASSERT_NEAR(actual(i, j), expected(i, j), 1e-13 * options.young) << i << ", " << j;
        ASSERT_EQ(actual(i, j), actual(j, i));
      }
    }
  }
}

TEST(Elasticity, RigidBodyModesAreTheNullSpaceWhereNothingIsClamped) {
  const ElasticityOptions options{.size = {4, 2, 3}, .young = 5.0, .poisson = 0.3, .clamped = false};
  const DenseMatrix matrix = read_dense(*elasticity3d(self(), options));
  const std::vector<double> modes = elasticity3d_rigid_body_modes(options, 0, matrix.size);
  ASSERT_EQ(modes.size(), static_cast<std::size_t>(matrix.size) * 6);
  DenseMatrix gram(6);
  for (std::size_t m = 0; m < 6; ++m) {
    for (int i = 0; i < matrix.size; ++i) {
      double product = 0.0;
      for (int j = 0; j < matrix.size; ++j) product += matrix(i, j) * modes[static_cast<std::size_t>(j) * 6 + m];
      ASSERT_NEAR(product, 0.0, 1e-12) << "mode " << m << ", row " << i;
      for (std::size_t k = 0; k < 6; ++k) {
        gram(static_cast<int>(m), static_cast<int>(k)) +=
            modes[static_cast<std::size_t>(i) * 6 + m] * modes[static_cast<std::size_t>(i) * 6 + k];
      }
    }
  }
  EXPECT_GT(eigenvalues(gram)[0], 1.0);  // six different modes
  const std::vector<double> spectrum = eigenvalues(matrix);
  EXPECT_NEAR(spectrum[5], 0.0, 1e-12);
  EXPECT_GT(spectrum[6], 1e-2);
}

TEST(Elasticity, OneClampedFaceMakesItPositiveDefinite) {
  EXPECT_GT(eigenvalues(read_dense(*elasticity3d(self(), {.size = {4, 2, 2}})))[0], 1e-4);
}

TEST(Elasticity, CoordinatesSkipTheClampedFace) {
  const ElasticityOptions options{.size = {2, 1, 1}};
  const std::vector<double> coordinates = elasticity3d_coordinates(options, 3, 9);
  EXPECT_THAT(coordinates, ::testing::ElementsAre(2, 0, 0, 2, 0, 0, 2, 0, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0));
}

TEST(Elasticity, RefusesImpossibleMaterials) {
  EXPECT_THROW(elasticity3d(self(), {.size = {2, 2, 2}, .poisson = 0.5}), InputError);
  EXPECT_THROW(elasticity3d(self(), {.size = {2, 2, 2}, .young = 0.0}), InputError);
  EXPECT_THROW(elasticity3d(self(), {.size = {2, 2}}), InputError);
  EXPECT_THROW(elasticity3d_coordinates({.size = {2, 1, 1}}, 0, 100), InputError);
}

}  // namespace
}  // namespace block_eigs::test
