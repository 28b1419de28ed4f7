#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "io/source/csr_scatter.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/small/lapack.hpp"
#include "tests/support/eigen_problem.hpp"

// Matrices with a null space: the tolerance, relative to eigenvalues that are zero, is below what the arithmetic
// can reach, and rounding errors must not grow while the others converge.
namespace block_eigs {
namespace {

constexpr int parts = 6;
constexpr int part_size = 27;
constexpr int n = parts * part_size;

/// Laplacian of six complete graphs with uneven weights: six eigenvalues are zero.
SmallMatrix six_graphs() {
  SmallMatrix a(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      if (i / part_size != j / part_size) continue;
      const double weight =
          0.02 * std::exp(std::sin(1.7 * i * i + 0.9) + std::sin(1.7 * j * j + 0.9)) / (1.0 + 0.2 * (i - j));
      a(i, j) = a(j, i) = -weight;
      a(i, i) += weight;
      a(j, j) += weight;
    }
  }
  return a;
}

struct Problem {
  Problem()
      : comm(MPI_COMM_WORLD),
        context(make_context<double>(comm, Backend::host)),
        partition(Partition::uniform(n, comm.size())),
        matrix(context, rows(), partition, partition),
        space(context, partition) {}

  CsrRows rows() const {
    const SmallMatrix a = six_graphs();
    std::vector<Triplet> triplets;
    for (GlobalIndex i = partition.begin(comm.rank()); i < partition.end(comm.rank()); ++i) {
      for (int j = 0; j < n; ++j) {
        if (const double value = a(static_cast<int>(i), j); value != 0.0) triplets.push_back({i, j, value});
      }
    }
    return scatter_to_owners(comm, partition, n, std::move(triplets));
  }

  Communicator comm;
  Context<double> context;
  Partition partition;
  DistributedMatrix<double> matrix;
  BlockSpace<double> space;
};

TEST(LobpcgSingular, ZeroEigenvaluesEndAtTheAccuracyLimit) {
  Problem problem;
  SmallMatrix a = six_graphs();
  const std::vector<double> exact = lapack::symmetric_eigen(a);
  const double noise = 100.0 * std::numeric_limits<double>::epsilon() * problem.matrix.norm_inf();
  ASSERT_LT(std::abs(exact[5]), noise);
  ASSERT_GT(exact[6], 0.01);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    for (const int pairs : {2, 5, 7}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", pairs " + std::to_string(pairs));
      LobpcgOptions options;
      options.pairs = pairs;
      options.tolerance = 1e-6;
      options.seed = seed;
      const auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options);
      ASSERT_EQ(result.eigenvalues.size(), static_cast<std::size_t>(pairs)) << result.remark;
      for (std::size_t j = 0; j < result.eigenvalues.size(); ++j) {
        EXPECT_NE(result.outcomes[j], Outcome::not_converged) << j;
        EXPECT_NEAR(result.eigenvalues[j], exact[j], std::max(noise, 1e-10 * exact[j])) << j;
      }
    }
  }
}

}  // namespace
}  // namespace block_eigs
