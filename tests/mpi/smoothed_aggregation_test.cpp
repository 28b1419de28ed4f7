#include "solver/multigrid/smoothed_aggregation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

#include "io/generate/generate.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/multigrid/amg.hpp"
#include "solver/multigrid/rigid_body_modes.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/distributed_matrix.hpp"
#include "tests/support/linear_problem.hpp"

namespace block_eigs {
namespace {

/// Levels of a matrix, their matrices as operators: products are checked by what is multiplied elsewhere.
struct Levels {
  Levels(MatrixSource& source, int unknowns, const NearNullSpace& given, const AggregationOptions& options,
         MPI_Comm ranks = MPI_COMM_WORLD)
      : comm(ranks), context(make_context<double>(comm, Backend::host)) {
    std::vector<GlobalIndex> offsets = Partition::uniform(source.rows() / unknowns, comm.size()).offsets();
    for (GlobalIndex& offset : offsets) offset *= unknowns;
    const Partition partition(std::move(offsets));
    hierarchy = smoothed_aggregation(comm, source.read(partition), partition, given, options);
  }

  DistributedMatrix<double> matrix(std::size_t level) const {
    return {context, hierarchy[level].matrix, hierarchy[level].partition, hierarchy[level].partition};
  }
  DistributedMatrix<double> interpolation(std::size_t level) const {
    return {context, hierarchy[level].interpolation, hierarchy[level].partition, hierarchy[level + 1].partition};
  }
  DistributedMatrix<double> restriction(std::size_t level) const {
    return {context, hierarchy[level].restriction, hierarchy[level + 1].partition, hierarchy[level].partition};
  }

  Communicator comm;
  Context<double> context;
  GridHierarchy hierarchy;
};

double largest(const Communicator& comm, const std::vector<double>& values) {
  double most = 0.0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return comm.max(most);
}

/// Every coarse matrix is R A P, and R the transpose of P, as the distributed product has it.
void expect_galerkin(const Levels& levels) {
  for (std::size_t l = 0; l + 1 < levels.hierarchy.size(); ++l) {
    BlockSpace<double> fine(levels.context, levels.hierarchy[l].partition);
    BlockSpace<double> coarse(levels.context, levels.hierarchy[l + 1].partition);
    DenseBlock<double> x = coarse.make_block(3), px = fine.make_block(3), apx = fine.make_block(3);
    DenseBlock<double> rapx = coarse.make_block(3), ax = coarse.make_block(3), y = fine.make_block(3);
    coarse.fill_random(x.view(), 1);
    fine.fill_random(y.view(), 2);
    levels.interpolation(l).apply(x.view(), px.view());
    levels.matrix(l).apply(px.view(), apx.view());
    levels.restriction(l).apply(apx.view(), rapx.view());
    levels.matrix(l + 1).apply(x.view(), ax.view());
    const double scale = levels.matrix(l).norm_inf() * largest(levels.comm, px.to_host());
    coarse.kernels().axpby(-1.0, ax.view(), 1.0, rapx.view());
    EXPECT_LT(largest(levels.comm, rapx.to_host()), 1e-13 * scale) << "level " << l;
    levels.restriction(l).apply(y.view(), rapx.view());
    const std::vector<double> left = coarse.column_dots(rapx.view(), x.view());
    const std::vector<double> right = fine.column_dots(y.view(), px.view());
    const double size = fine.column_norms(y.view())[0] * fine.column_norms(px.view())[0];
    for (std::size_t j = 0; j < left.size(); ++j) EXPECT_NEAR(left[j], right[j], 1e-13 * size) << "level " << l;
  }
}

/// The path through 0 .. size - 1 in an order in which neighbours lie far apart: size and 1618 have no common
/// divisor.
std::unique_ptr<MatrixSource> permuted_chain(const Communicator& comm, GlobalIndex size) {
  const auto entry = [size](GlobalIndex i, GlobalIndex j) {
    const GlobalIndex apart = std::abs(i * 1618 % size - j * 1618 % size);
    return apart == 0 ? 2.0 : apart == 1 ? -1.0 : 0.0;
  };
  return std::make_unique<test::RuleSource>(size, entry, comm.handle());
}

TEST(SmoothedAggregation, CoarseMatricesAreGalerkinProducts) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto source = laplacian3d(comm, {{17, 13, 19}});
  const Levels levels(*source, 1, {}, {0.08, 20, 300});
  EXPECT_GE(levels.hierarchy.size(), 3U);
  EXPECT_LE(levels.hierarchy.back().partition.rows(), 20 * comm.size());
  expect_galerkin(levels);
}

TEST(SmoothedAggregation, LevelsAreTheSameOnAnyNumberOfRanks) {
  const Communicator comm(MPI_COMM_WORLD);
  const Communicator self(MPI_COMM_SELF);
  const auto sizes = [](const Levels& levels) {
    std::vector<GlobalIndex> result;
    for (const GridLevel& level : levels.hierarchy) result.push_back(level.partition.rows());
    return result;
  };
  const auto on = [&](const Communicator& ranks, const auto& make) {
    const auto source = make(ranks);
    return sizes(Levels(*source, 1, {}, {0.08, 20, 300}, ranks.handle()));
  };
  const auto grid = [](const Communicator& ranks) { return laplacian3d(ranks, {{17, 13, 19}}); };
  EXPECT_EQ(on(comm, grid), on(self, grid));
  // Nearly all neighbours lie on other ranks.
  const auto permuted = [](const Communicator& ranks) { return permuted_chain(ranks, 4001); };
  EXPECT_EQ(on(comm, permuted), on(self, permuted));
  EXPECT_GE(on(comm, permuted).size(), 4U);
}

TEST(SmoothedAggregation, WeakCouplingsDoNotFillLevels) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto source = laplacian2d(comm, {.size = {120, 100}, .anisotropy = {1.0, 0.01}});
  const Levels levels(*source, 1, {}, {0.08, 20, 300});
  expect_galerkin(levels);
  ASSERT_GE(levels.hierarchy.size(), 3U);
  // Aggregates are lines of three, and one is coupled to its neighbours in the line and in the lines beside it.
  const CsrRows& coarse = levels.hierarchy[1].matrix;
  const auto entries = static_cast<double>(comm.sum(std::int64_t{coarse.nonzeros()}));
  EXPECT_LT(entries, 10.0 * static_cast<double>(levels.hierarchy[1].partition.rows()));
  // P interpolates along lines: from one aggregate, or two where it ends.
  const CsrRows& p = levels.hierarchy[0].interpolation;
  for (std::size_t i = 0; i + 1 < p.row_offsets.size(); ++i) EXPECT_LE(p.row_offsets[i + 1] - p.row_offsets[i], 3);
}

TEST(SmoothedAggregation, RigidBodyModesPassThroughEveryLevel) {
  const Communicator comm(MPI_COMM_WORLD);
  ElasticityOptions options;
  options.size = {7, 6, 8};
  options.clamped = false;  // so that A maps them to zero, and smoothing leaves them as they are
  const auto source = elasticity3d(comm, options);
  std::vector<GlobalIndex> offsets = Partition::uniform(source->rows() / 3, comm.size()).offsets();
  NearNullSpace space{{}, 6, 3};
  space.vectors = elasticity3d_rigid_body_modes(options, 3 * offsets[static_cast<std::size_t>(comm.rank())],
                                                3 * offsets[static_cast<std::size_t>(comm.rank()) + 1]);
  const Levels levels(*source, 3, space, {0.02, 100, 500});
  ASSERT_GE(levels.hierarchy.size(), 2U);
  expect_galerkin(levels);
  // The modes are in the range of P: the coarse body is free too, in six ways and no more.
  DistributedMatrix<double> coarse = levels.matrix(1);
  BlockSpace<double> coarse_space(levels.context, levels.hierarchy[1].partition);
  LobpcgOptions eigen;
  eigen.pairs = 7;
  eigen.block_size = static_cast<int>(coarse_space.dimension() / 4);  // so wide that LAPACK solves it
  const auto result = lobpcg<double>(coarse_space, coarse, nullptr, nullptr, nullptr, {}, eigen);
  EXPECT_LT(std::abs(result.eigenvalues[5]), 1e-12 * coarse.norm_inf());
  EXPECT_GT(result.eigenvalues[6], 1e-6 * coarse.norm_inf());
}

TEST(SmoothedAggregation, GraphsAndSingularMatrices) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto source = graph_laplacian(comm, {.scale = 9, .edge_factor = 8});
  const double any = 1e9;  // as they fill
  const Levels levels(*source, 1, {}, {0.0, 5, 100, any, any});
  ASSERT_GE(levels.hierarchy.size(), 2U);
  expect_galerkin(levels);
  // Constants are in the kernel of every level: the cycle must not blow up on them.
  Amg<double> amg(levels.context, levels.hierarchy, {});
  BlockSpace<double> space(levels.context, levels.hierarchy[0].partition);
  DenseBlock<double> x = space.make_block(2), y = space.make_block(2);
  space.fill_random(x.view(), 1);
  amg.apply(x.view(), y.view());
  for (const double norm : space.column_norms(y.view())) EXPECT_LT(norm, 1e6);
}

TEST(SmoothedAggregation, DiagonalMatrixHasOneLevel) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto context = make_context<double>(comm, Backend::host);
  const Partition partition = Partition::uniform(5000, comm.size());
  CsrRows rows;
  rows.row_begin = partition.begin(comm.rank());
  rows.global_rows = rows.global_columns = 5000;
  for (GlobalIndex i = partition.begin(comm.rank()); i < partition.end(comm.rank()); ++i) {
    rows.columns.push_back(i);
    rows.values.push_back(2.0);
    rows.row_offsets.push_back(static_cast<Offset>(rows.columns.size()));
  }
  Amg<double> amg(context, smoothed_aggregation(comm, rows, partition, {}), {});
  EXPECT_EQ(amg.levels(), 1);
  BlockSpace<double> space(context, partition);
  DenseBlock<double> x = space.make_block(1), y = space.make_block(1);
  space.fill_random(x.view(), 1);
  amg.apply(x.view(), y.view());
  for (const double dot : space.column_dots(x.view(), y.view())) EXPECT_GT(dot, 0.0);
}

TEST(RigidBodyModes, AgreeWithThoseOfTheGenerator) {
  const Communicator comm(MPI_COMM_WORLD);
  ElasticityOptions options;
  options.size = {3, 2, 4};
  const GlobalIndex rows = elasticity3d(comm, options)->rows();
  const std::vector<double> of_rows = elasticity3d_coordinates(options, 0, rows);
  std::vector<double> of_nodes;
  for (std::size_t node = 0; node < of_rows.size() / 9; ++node) {
    for (std::size_t d = 0; d < 3; ++d)
      of_nodes.push_back(of_rows[9 * node + d] - 0.5 * static_cast<double>(options.size[d]));
  }
  EXPECT_EQ(rigid_body_modes(3, of_nodes), elasticity3d_rigid_body_modes(options, 0, rows));
}

TEST(RigidBodyModes, InThePlane) {
  const std::vector<double> expected{1, 0, -7, 0, 1, 5};
  EXPECT_EQ(rigid_body_modes(2, std::vector<double>{5, 7}), expected);
}

}  // namespace
}  // namespace block_eigs
