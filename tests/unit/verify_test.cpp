// What the program says of eigenpairs, for vectors whose residuals are known.
#include "apps/journey/verify.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace block_eigs {
namespace {

constexpr int rows = 40;

double eigenvalue(int k) { return 2.0 - 2.0 * std::cos(std::numbers::pi * k / (rows + 1)); }

double entry(int k, int row) {
  return std::sqrt(2.0 / (rows + 1)) * std::sin(std::numbers::pi * k * (row + 1) / (rows + 1));
}

/// What comes of the vector c v_1 + s v_2 of the one-dimensional Laplacian, whose residual is
/// (lambda_2 - lambda_1) c s at its Rayleigh quotient, where the tolerance is so many times less.
Outcome outcome_at(double excess) {
  const RunConfig config = parse_config("matrix: {generate: laplacian1d, size: [40]}", "test", {});
  const Communicator comm(MPI_COMM_WORLD);
  const Context<double> context = make_context<double>(comm, Backend::host);
  const Sources sources = open_sources(comm, config);
  Problem<double> problem = read_problem(context, sources, ReadOptions{});
  const double s = 1e-6;
  const double c = std::sqrt(1.0 - s * s);
  std::vector<double> values;
  for (int row = 0; row < rows; ++row) values.push_back(c * entry(1, row) + s * entry(2, row));
  DenseBlock<double> vector(context.device, rows, 1);
  vector.from_host(values.data());
  const double lambda = c * c * eigenvalue(1) + s * s * eigenvalue(2);
  LobpcgOptions options;
  options.tolerance = (eigenvalue(2) - eigenvalue(1)) * c * s / lambda / excess;
  return verify(problem, vector, {lambda}, false, options).outcomes.front();
}

/// Converged is what is within the tolerance, but for the rounding errors of finding that out.
TEST(Verify, ConvergedMeansWithinTheTolerance) {
  EXPECT_EQ(outcome_at(0.99), Outcome::converged);
  EXPECT_EQ(outcome_at(1.0 + 1e-10), Outcome::converged);
  EXPECT_EQ(outcome_at(1.001), Outcome::not_converged);
  EXPECT_EQ(outcome_at(1.01), Outcome::not_converged);
}

}  // namespace
}  // namespace block_eigs
