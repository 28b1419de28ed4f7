#include "solver/multigrid/amg.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "io/generate/generate.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/multigrid/nested_iteration.hpp"
#include "solver/multigrid/smoothed_aggregation.hpp"
#include "solver/preconditioner/cast_operator.hpp"
#include "solver/space/block_space.hpp"

namespace block_eigs {
namespace {

struct Setting {
  CsrRows rows;
  Partition partition;
  NearNullSpace space;
};

/// Start vectors in double; the solver makes up for those that are missing.
DenseBlock<double> start_vectors(const Context<double>& context, Amg<float>& cycle, int columns) {
  const DenseBlock<float> from = nested_iteration(cycle, columns, 1);
  DenseBlock<double> result(context.device, from.rows(), from.cols());
  if (from.cols() > 0) with_precision<float>(context).kernels->convert(from.view(), {}, result.view());
  return result;
}

/// LOBPCG with a float cycle, from random vectors or those that the levels give.
EigenResult<double> solve(const Context<double>& context, const Setting& setting, int pairs, double tolerance,
                          bool nested = false) {
  DistributedMatrix<double> a(context, setting.rows, setting.partition, setting.partition);
  BlockSpace<double> space(context, setting.partition);
  Amg<float> cycle(with_precision<float>(context),
                   smoothed_aggregation(context.comm, setting.rows, setting.partition, setting.space), {});
  CastOperator preconditioner(context, cycle);
  LobpcgOptions options;
  options.pairs = pairs;
  options.tolerance = tolerance;
  options.max_iterations = 200;
  return lobpcg<double>(space, a, nullptr, &preconditioner, nullptr,
                        nested ? start_vectors(context, cycle, pairs) : DenseBlock<double>(), options);
}

int iterations_on_cube(GlobalIndex points, bool nested = false) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto context = make_context<double>(comm, Backend::host);
  LaplacianOptions grid;
  grid.size = {points, points, points};
  const auto source = laplacian3d(comm, grid);
  const Partition partition = Partition::uniform(source->rows(), comm.size());
  const EigenResult<double> result = solve(context, {source->read(partition), partition, {}}, 16, 1e-6, nested);
  const std::vector<double> exact = closed_form_laplacian_eigenvalues(grid, 16);
  for (std::size_t j = 0; j < exact.size(); ++j) {
    EXPECT_EQ(result.outcomes[j], Outcome::converged);
    EXPECT_NEAR(result.eigenvalues[j], exact[j], 1e-10 * exact[j]);
  }
  return result.iterations;
}

TEST(AmgConvergence, IterationsHardlyGrowWithTheGrid) {
  const int coarse = iterations_on_cube(16);
  EXPECT_LE(coarse, 22);
  EXPECT_LE(iterations_on_cube(40), coarse + 4);
}

TEST(AmgConvergence, NestedIterationSavesIterations) {
  const int random = iterations_on_cube(32);
  EXPECT_LE(iterations_on_cube(32, true), random - 3);
}

TEST(AmgConvergence, ACubeTakesThirteenIterations) { EXPECT_LE(iterations_on_cube(48, true), 13); }

/// The largest eigenvalue of the cycle times the matrix, from below, by the power method in the inner product of
/// the matrix; the smallest x^T M x that was met on the way goes to `least`, x of length one.
double largest_of_cycle(const Context<double>& context, const Setting& setting, const AmgOptions& options,
                        double& least) {
  AggregationOptions many_levels;
  many_levels.coarse_rows = 12;
  DistributedMatrix<double> a(context, setting.rows, setting.partition, setting.partition);
  BlockSpace<double> space(context, setting.partition);
  Amg<double> cycle(context, smoothed_aggregation(context.comm, setting.rows, setting.partition, {}, many_levels),
                    options);
  EXPECT_GE(cycle.levels(), 4);
  DenseBlock<double> x = space.make_block(1);
  DenseBlock<double> ax = space.make_block(1);
  DenseBlock<double> y = space.make_block(1);
  space.fill_random(x.view(), 1);
  const auto dot = [&](DenseBlock<double>& left, DenseBlock<double>& right) {
    return space.column_dots(left.view(), right.view()).front();
  };
  double largest = 0.0;
  for (int i = 0; i < 60; ++i) {
    context.kernels->axpby(0.0, x.view(), 1.0 / std::sqrt(dot(x, x)), x.view());
    cycle.apply(x.view(), y.view());
    least = std::min(least, dot(x, y));
    a.apply(x.view(), ax.view());
    cycle.apply(ax.view(), y.view());
    largest = std::max(largest, dot(y, ax) / dot(x, ax));
    std::swap(x, y);
  }
  return largest;
}

// Whatever is reserved and applied, work space stays that of the limit, and columns do not know of each other.
TEST(AmgConvergence, ColumnsPieceByPieceAreTheSame) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto context = make_context<double>(comm, Backend::host);
  const auto source = laplacian3d(comm, {.size = {24, 23, 22}});
  const Partition partition = Partition::uniform(source->rows(), comm.size());
  BlockSpace<double> space(context, partition);
  constexpr LocalIndex columns = 10;
  DenseBlock<double> x = space.make_block(columns);
  space.fill_random(x.view(), 5);
  std::vector<DenseBlock<double>> results;
  std::vector<std::size_t> work;
  for (const LocalIndex limit : {LinearOperator<double>::no_limit, LocalIndex{4}}) {
    Amg<float> cycle(with_precision<float>(context),
                     smoothed_aggregation(comm, source->read(partition), partition, {}), {});
    CastOperator cast(context, cycle);
    cast.limit_work_space(limit);
    cast.reserve(columns);
    work.push_back(cast.work_bytes(columns));
    cast.apply(x.view(), results.emplace_back(space.make_block(columns)).view());
    EXPECT_EQ(cast.work_bytes(limit == 4 ? 4 : columns), work.back());
  }
  EXPECT_LT(work[1], work[0] / 2);
  const std::vector<double> sizes = space.column_norms(results[0].view());
  context.kernels->axpby(1.0, results[0].view(), -1.0, results[1].view());
  const std::vector<double> differences = space.column_norms(results[1].view());
  for (std::size_t j = 0; j < sizes.size(); ++j) EXPECT_LE(differences[j], 1e-6 * sizes[j]) << j;
}

TEST(AmgConvergence, ACycleStaysPositiveDefiniteWhateverItsCoarseLevelsCount) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto context = make_context<double>(comm, Backend::host);
  LaplacianOptions grid;
  grid.size = {24, 20, 22};
  const auto source = laplacian3d(comm, grid);
  const Partition partition = Partition::uniform(source->rows(), comm.size());
  const Setting setting{source->read(partition), partition, {}};
  constexpr double never_twice = 1e6;
  for (const double w_reduction : {AmgOptions{}.w_reduction, 20.0, never_twice}) {
    AmgOptions options;
    options.w_reduction = w_reduction;
    options.coarse_weight = 1.9;
    double least = 1.0;
    const double largest = largest_of_cycle(context, setting, options, least);
    EXPECT_GT(least, 0.0) << w_reduction;
    EXPECT_LT(largest, options.coarse_weight) << w_reduction;
  }
}

EigenResult<double> solve_elasticity(GlobalIndex elements, bool with_modes) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto context = make_context<double>(comm, Backend::host);
  ElasticityOptions options;
  options.size = {elements, elements, elements};
  const auto source = elasticity3d(comm, options);
  std::vector<GlobalIndex> offsets = Partition::uniform(source->rows() / 3, comm.size()).offsets();
  for (GlobalIndex& offset : offsets) offset *= 3;
  Setting setting{{}, Partition(std::move(offsets)), {}};
  setting.rows = source->read(setting.partition);
  setting.space.unknowns_per_node = 3;
  if (with_modes) {
    setting.space.modes = 6;
    setting.space.vectors = elasticity3d_rigid_body_modes(options, setting.partition.begin(comm.rank()),
                                                          setting.partition.end(comm.rank()));
  }
  return solve(context, setting, 10, 1e-6);
}

TEST(AmgConvergence, ElasticityWithRigidBodyModes) {
  const EigenResult<double> with = solve_elasticity(14, true);
  for (const Outcome outcome : with.outcomes) EXPECT_EQ(outcome, Outcome::converged);
  EXPECT_LE(with.iterations, 40);
  const EigenResult<double> without = solve_elasticity(14, false);
  EXPECT_GT(without.iterations, with.iterations + 3);
  for (std::size_t j = 0; j < with.eigenvalues.size(); ++j)
    EXPECT_NEAR(with.eigenvalues[j], without.eigenvalues[j], 1e-9 * with.eigenvalues[j]);
}

}  // namespace
}  // namespace block_eigs
