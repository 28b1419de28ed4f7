// Counts of eigenvalues by factorisation, against closed forms.
#include "solver/factors/factorization.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <numbers>
#include <string>

#include "io/generate/generate.hpp"
#include "spmm/error.hpp"
#include "tests/support/linear_problem.hpp"

namespace block_eigs {
namespace {

constexpr factors::Use use{"the test", "none"};

class Inertia : public testing::Test {
 protected:
  void SetUp() override {
    if (!factors::available()) GTEST_SKIP() << "this build lacks MUMPS: nothing was tested";
  }
};

CsrRows laplacian_rows(const Communicator& comm, const LaplacianOptions& grid, Partition& partition) {
  const auto source = laplacian3d(comm, grid);
  partition = Partition::uniform(source->rows(), comm.size());
  return source->read(partition);
}

TEST_F(Inertia, CountsEigenvaluesWithTheirMultiplicities) {
  const Communicator comm(MPI_COMM_WORLD);
  const LaplacianOptions grid{.size = {9, 9, 9}};
  Partition partition = Partition::uniform(0, comm.size());
  const CsrRows rows = laplacian_rows(comm, grid, partition);
  const std::vector<double> exact = closed_form_laplacian_eigenvalues(grid, 40);
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}, std::size_t{4}, std::size_t{7}, std::size_t{17}}) {
    // Between exact[k - 1] and exact[k], which differ: 1, 3, 3, 3 + 3 + 1, 6 equal ones.
    const double before = k == 0 ? 0.0 : exact[k - 1];
    ASSERT_GT(exact[k] - before, 1e-3) << k;
    const factors::Inertia count =
        factors::inertia(comm, rows, nullptr, partition, 0.5 * (before + exact[k]), use);
    EXPECT_EQ(count.below, static_cast<std::int64_t>(k));
    EXPECT_EQ(count.at, 0);
    EXPECT_EQ(count.below + count.above, 729);
  }
  EXPECT_EQ(factors::inertia(comm, rows, nullptr, partition, 20.0, use).below, 729);
}

/// (A, B) of linear elements on a line: lambda = 6 (1 - c) / (2 + c) in units of h = 1, c = cos(pi k / (n + 1)).
TEST_F(Inertia, CountsThoseOfPencils) {
  const Communicator comm(MPI_COMM_WORLD);
  constexpr int n = 60;
  const auto tridiagonal = [&](double diagonal, double beside) {
    return test::RuleSource(n, [=](GlobalIndex i, GlobalIndex j) {
      return i == j ? diagonal : (i - j == 1 || j - i == 1 ? beside : 0.0);
    });
  };
  const Partition partition = Partition::uniform(n, comm.size());
  const CsrRows a = tridiagonal(2.0, -1.0).read(partition);
  const CsrRows b = tridiagonal(4.0 / 6.0, 1.0 / 6.0).read(partition);
  const auto eigenvalue = [](int k) {
    const double c = std::cos(std::numbers::pi * k / (n + 1));
    return 6.0 * (1.0 - c) / (2.0 + c);
  };
  for (const int k : {1, 5, 30, 59}) {
    const double sigma = 0.5 * (eigenvalue(k) + eigenvalue(k + 1));
    EXPECT_EQ(factors::inertia(comm, a, &b, partition, sigma, use).below, k);
  }
}

/// Leaves of small stars: next to zero, which each has 64 times, no leaf makes a pivot, and factors are full
/// blocks.
TEST_F(Inertia, FactorsThatOutgrowWhatWasForeseenAreGivenUpWhereSoWanted) {
  const Communicator comm(MPI_COMM_WORLD);
  constexpr GlobalIndex star = 65;
  constexpr GlobalIndex stars = 40;
  test::RuleSource source(stars * star, [](GlobalIndex i, GlobalIndex j) {
    const bool leaf_and_hub = (i % star == 0) != (j % star == 0);
    return i / star == j / star && leaf_and_hub ? 1.0 : 0.0;
  });
  const Partition partition = Partition::uniform(source.rows(), comm.size());
  const CsrRows rows = source.read(partition);
  factors::Factorization counter(comm, rows, nullptr, partition, use);
  constexpr double next_to_zero = -1e-7;
  try {
    EXPECT_EQ(counter.factorize_as_foreseen(rows, nullptr, next_to_zero).below, stars);
    ADD_FAILURE() << "there was room for full factors: this tests nothing";
  } catch (const RunError& error) {
    EXPECT_NE(std::string(error.what()).find("pivots"), std::string::npos) << error.what();
  }
  EXPECT_EQ(counter.factorize(rows, nullptr, next_to_zero).below, stars);
  EXPECT_EQ(counter.factorize_as_foreseen(rows, nullptr, -1.0).below, stars);
}

/// One analysis serves all numbers, those of a matrix without stored diagonal entries as well.
TEST_F(Inertia, OneAnalysisServesAllNumbers) {
  const Communicator comm(MPI_COMM_WORLD);
  const LaplacianOptions grid{.size = {9, 8, 7}};
  Partition partition = Partition::uniform(0, comm.size());
  const CsrRows rows = laplacian_rows(comm, grid, partition);
  const std::vector<double> exact = closed_form_laplacian_eigenvalues(grid, 20);
  factors::Factorization counter(comm, rows, nullptr, partition, use);
  EXPECT_GT(comm.sum(counter.size().bytes), 504.0 * 7.0 * sizeof(double));
  for (const int k : {12, 1, 19, 5}) {
    const auto at = static_cast<std::size_t>(k);
    EXPECT_EQ(counter.factorize(rows, nullptr, 0.5 * (exact[at - 1] + exact[at])).below, k);
  }
  EXPECT_EQ(counter.factorize(rows, nullptr, -1.0).below, 0);
  // A path of 40 vertices: eigenvalues of its adjacency are symmetric about 0.
  const test::RuleSource::Rule path = [](GlobalIndex i, GlobalIndex j) {
    return i - j == 1 || j - i == 1 ? 1.0 : 0.0;
  };
  const Partition of_path = Partition::uniform(40, comm.size());
  const CsrRows adjacency = test::RuleSource(40, path).read(of_path);
  factors::Factorization about_zero(comm, adjacency, nullptr, of_path, use);
  EXPECT_EQ(about_zero.factorize(adjacency, nullptr, 1e-3).below, 20);
  EXPECT_EQ(about_zero.factorize(adjacency, nullptr, 3.0).below, 40);
}

}  // namespace
}  // namespace block_eigs
