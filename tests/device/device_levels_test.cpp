#include "solver/multigrid/device_levels.hpp"

#include <gtest/gtest.h>

#include "io/generate/generate.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/multigrid/amg.hpp"
#include "solver/multigrid/nested_iteration.hpp"
#include "solver/preconditioner/cast_operator.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/cuda/runtime/cuda_backend.hpp"
#include "tests/support/eigen_problem.hpp"

// Levels made where the matrix is, beside those that the host backend makes.
namespace block_eigs {
namespace {

using Problem = test::Problem<double>;

DeviceHierarchy levels_of(const Problem& problem, const NearNullSpace& space,
                          const AggregationOptions& options = {}) {
  return smoothed_aggregation(problem.context, problem.matrix, 0.0,
                              to_device(problem.context, space, problem.matrix.rows()), options);
}

int iterations(Problem& problem, Amg<float>& cycle, int pairs, const std::vector<double>& exact) {
  CastOperator preconditioner(problem.context, cycle);
  const DenseBlock<float> nested = nested_iteration(cycle, pairs, 1);
  DenseBlock<double> start(problem.context.device, nested.rows(), nested.cols());
  with_precision<float>(problem.context).kernels->convert(nested.view(), {}, start.view());
  LobpcgOptions options;
  options.pairs = pairs;
  options.tolerance = 1e-6;
  const auto result =
      lobpcg<double>(problem.space, problem.matrix, nullptr, &preconditioner, nullptr, std::move(start), options);
  for (std::size_t j = 0; j < exact.size(); ++j) {
    EXPECT_EQ(result.outcomes[j], Outcome::converged);
    EXPECT_NEAR(result.eigenvalues[j], exact[j], 1e-10 * exact[j]);
  }
  return result.iterations;
}

class DeviceLevels : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::cuda && cuda::device_count() == 0)
      GTEST_SKIP() << "this machine has no GPU, or this build no CUDA backend: nothing was tested";
  }
};

TEST_P(DeviceLevels, TakeAsManyIterationsAsThoseOfTheHost) {
  const Communicator comm(MPI_COMM_WORLD);
  const LaplacianOptions grid{.size = {33, 32, 31}};
  const auto source = laplacian3d(comm, grid);
  Problem problem(*source, GetParam());
  const auto in_float = with_precision<float>(problem.context);
  Amg<float> from_device(in_float, levels_of(problem, {}), {});
  Amg<float> from_host(in_float,
                       smoothed_aggregation(comm, source->read(problem.partition), problem.partition, {}), {});
  EXPECT_LE(from_device.operator_complexity(), 1.8);
  EXPECT_GT(from_device.levels(), 2);
  const std::vector<double> exact = closed_form_laplacian_eigenvalues(grid, 16);
  const int host = iterations(problem, from_host, 16, exact);
  const int device = iterations(problem, from_device, 16, exact);
  EXPECT_EQ(from_device.description(), from_host.description());
  EXPECT_NEAR(device, host, 1);
}

TEST_P(DeviceLevels, RepresentRigidBodyModes) {
  const Communicator comm(MPI_COMM_WORLD);
  ElasticityOptions options;
  options.size = {11, 10, 12};
  const auto source = elasticity3d(comm, options);
  Problem problem(*source, GetParam());
  NearNullSpace space;
  space.unknowns_per_node = 3;
  space.modes = 6;
  space.vectors = elasticity3d_rigid_body_modes(options, 0, source->rows());
  const auto in_float = with_precision<float>(problem.context);
  Amg<float> from_device(in_float, levels_of(problem, space), {});
  Amg<float> from_host(in_float,
                       smoothed_aggregation(comm, source->read(problem.partition), problem.partition, space), {});
  const int host = iterations(problem, from_host, 10, {});
  const int device = iterations(problem, from_device, 10, {});
  EXPECT_EQ(from_device.description(), from_host.description());
  EXPECT_NEAR(device, host, 1);
}

// 20^3 points make a level of 400 to 1024 rows above the coarsest.
TEST_P(DeviceLevels, SmallLevelsAreSolvedByTheirInverseOnAGpu) {
  Problem problem(*laplacian3d(Communicator(MPI_COMM_WORLD), {.size = {20, 20, 20}}), GetParam());
  Amg<double> cycle(problem.context, levels_of(problem, {}), {});
  ASSERT_GE(cycle.levels(), 3);
  DistributedMatrix<double>& a = cycle.matrix(1);
  ASSERT_GT(a.rows(), 400);
  ASSERT_LE(a.rows(), 1024);
  BlockSpace<double> space(problem.context, a.row_partition());
  DenseBlock<double> x = space.make_block(5);
  DenseBlock<double> y = space.make_block(5);
  DenseBlock<double> rest = space.make_block(5);
  space.fill_random(x.view(), 1);
  cycle.cycle(1, x.view(), y.view());
  a.apply_step(y.view(), rest.view(), ProductStep<double>::residual(x.view()));
  const std::vector<double> before = space.column_norms(x.view());
  const std::vector<double> after = space.column_norms(rest.view());
  const double left = GetParam() == Backend::cuda ? 1e-11 : 0.5;
  for (std::size_t j = 0; j < before.size(); ++j) EXPECT_LT(after[j], left * before[j]);
}

INSTANTIATE_TEST_SUITE_P(Backends, DeviceLevels, ::testing::Values(Backend::host, Backend::cuda),
                         [](const auto& backend) { return std::string(name_of(backend.param)); });

}  // namespace
}  // namespace block_eigs
