#include <gtest/gtest.h>

#include <cmath>

#include "io/generate/generate.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/preconditioner/chebyshev.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "tests/support/eigen_problem.hpp"

// Spectra of Laplacians in closed form, multiplicities included.
namespace block_eigs {
namespace {

using test::Problem;

template <class T>
void expect_spectrum(const EigenResult<T>& result, const std::vector<double>& exact, double relative) {
  ASSERT_EQ(result.eigenvalues.size(), exact.size()) << result.remark;
  for (std::size_t j = 0; j < exact.size(); ++j) {
    EXPECT_EQ(result.outcomes[j], Outcome::converged) << j << " " << result.remark;
    EXPECT_NEAR(result.eigenvalues[j], exact[j], relative * exact[j]) << j;
  }
}

TEST(LobpcgLaplacian, CubeFindsEveryMemberOfItsTriples) {
  const Communicator comm(MPI_COMM_WORLD);
  const LaplacianOptions grid{.size = {12, 12, 12}};
  Problem<double> problem(*laplacian3d(comm, grid));
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  LobpcgOptions options;
  options.pairs = 17;
  options.tolerance = 1e-9;
  const auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, &jacobi, nullptr, {}, options);
  const std::vector<double> exact = closed_form_laplacian_eigenvalues(grid, options.pairs);
  ASSERT_NEAR(exact[1], exact[3], 1e-12);  // a triple, so that the test means what it says
  expect_spectrum(result, exact, 1e-12);
  EXPECT_LT(test::orthogonality_error(problem.space, result.eigenvectors), 1e-12);
}

TEST(LobpcgLaplacian, PathAndSquareWithoutPreconditioner) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const LaplacianOptions& grid : {LaplacianOptions{.size = {150}}, LaplacianOptions{.size = {24, 17}}}) {
    const auto source = grid.size.size() == 1 ? laplacian1d(comm, grid) : laplacian2d(comm, grid);
    Problem<double> problem(*source);
    LobpcgOptions options;
    options.pairs = 6;
    options.tolerance = 1e-9;
    options.max_iterations = 2000;
    const auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options);
    expect_spectrum(result, closed_form_laplacian_eigenvalues(grid, options.pairs), 1e-11);
  }
}

TEST(LobpcgLaplacian, ChebyshevNeedsFarFewerIterationsThanJacobi) {
  const Communicator comm(MPI_COMM_WORLD);
  const LaplacianOptions grid{.size = {16, 14, 13}};
  Problem<double> problem(*laplacian3d(comm, grid));
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  Chebyshev<double> chebyshev(problem.context, problem.matrix, problem.matrix.diagonal(),
                              problem.matrix.scaled_gershgorin_bound(), {});
  LobpcgOptions options;
  options.pairs = 10;
  options.tolerance = 1e-8;
  const std::vector<double> exact = closed_form_laplacian_eigenvalues(grid, options.pairs);
  const auto slow = lobpcg<double>(problem.space, problem.matrix, nullptr, &jacobi, nullptr, {}, options);
  const auto fast = lobpcg<double>(problem.space, problem.matrix, nullptr, &chebyshev, nullptr, {}, options);
  expect_spectrum(slow, exact, 1e-11);
  expect_spectrum(fast, exact, 1e-11);
  EXPECT_LT(3 * fast.iterations, slow.iterations);
}

TEST(LobpcgLaplacian, LargestEndDescends) {
  const Communicator comm(MPI_COMM_WORLD);
  const LaplacianOptions grid{.size = {13, 12, 11}};
  Problem<double> problem(*laplacian3d(comm, grid));
  LobpcgOptions options;
  options.pairs = 8;
  options.which = Which::largest;
  options.tolerance = 1e-8;
  const auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options);
  // The spectrum of the 7-point Laplacian is symmetric about 6.
  std::vector<double> exact = closed_form_laplacian_eigenvalues(grid, options.pairs);
  for (double& value : exact) value = 12.0 - value;
  expect_spectrum(result, exact, 1e-12);
}

TEST(LobpcgLaplacian, WindowMovesOverMorePairsThanItHolds) {
  const Communicator comm(MPI_COMM_WORLD);
  const LaplacianOptions grid{.size = {12, 11, 10}};
  Problem<double> problem(*laplacian3d(comm, grid));
  Chebyshev<double> chebyshev(problem.context, problem.matrix, problem.matrix.diagonal(),
                              problem.matrix.scaled_gershgorin_bound(), {});
  LobpcgOptions options;
  options.pairs = 60;
  options.block_size = 20;
  options.tolerance = 1e-8;
  const auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, &chebyshev, nullptr, {}, options);
  expect_spectrum(result, closed_form_laplacian_eigenvalues(grid, options.pairs), 1e-11);
  EXPECT_LT(test::orthogonality_error(problem.space, result.eigenvectors), 1e-10);
  for (const auto& iteration : result.history) EXPECT_LE(iteration.active_columns, 20);
}

TEST(LobpcgLaplacian, FloatReachesWhatFloatCan) {
  const Communicator comm(MPI_COMM_WORLD);
  const LaplacianOptions grid{.size = {12, 12, 12}};
  Problem<float> problem(*laplacian3d(comm, grid));
  Jacobi<float> jacobi(problem.context, problem.matrix.diagonal());
  LobpcgOptions options;
  options.pairs = 6;
  options.tolerance = 1e-3;
  const auto result = lobpcg<float>(problem.space, problem.matrix, nullptr, &jacobi, nullptr, {}, options);
  expect_spectrum(result, closed_form_laplacian_eigenvalues(grid, options.pairs), 1e-4);
}

}  // namespace
}  // namespace block_eigs
