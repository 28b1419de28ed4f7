#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "io/generate/generate.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/multigrid/amg.hpp"
#include "solver/multigrid/device_levels.hpp"
#include "solver/multigrid/nested_iteration.hpp"
#include "solver/preconditioner/cast_operator.hpp"
#include "spmm/cuda/runtime/cuda_backend.hpp"
#include "tests/support/linear_problem.hpp"

// Levels that several ranks make where their matrix is, beside those of one rank: entry by entry.
namespace block_eigs {
namespace {

/// A matrix on a backend, dealt in whole nodes of `unknowns` rows.
struct Problem {
  Problem(MatrixSource& source, MPI_Comm ranks, Backend backend, int unknowns = 1)
      : comm(ranks),
        context(make_context<double>(comm, backend)),
        partition(whole_nodes(source.rows(), comm.size(), unknowns)),
        matrix(context, source.read(partition), partition, partition) {}

  static Partition whole_nodes(GlobalIndex rows, int ranks, int unknowns) {
    std::vector<GlobalIndex> offsets = Partition::uniform(rows / unknowns, ranks).offsets();
    for (GlobalIndex& offset : offsets) offset *= unknowns;
    return Partition(std::move(offsets));
  }
  DeviceHierarchy levels(const NearNullSpace& space, const AggregationOptions& options = {},
                         double shift = 0.0) const {
    return smoothed_aggregation(context, matrix, shift, to_device(context, space, matrix.rows()), options);
  }

  Communicator comm;
  Context<double> context;
  Partition partition;
  DistributedMatrix<double> matrix;
};

/// Rows of this rank, beside all rows of one rank alone; values to rounding errors of `scale`.
void expect_rows(const CsrRows& own, const CsrRows& all, double scale, const std::string& what) {
  ASSERT_EQ(own.global_rows, all.global_rows) << what;
  ASSERT_EQ(own.global_columns, all.global_columns) << what;
  for (LocalIndex i = 0; i < own.rows(); ++i) {
    const auto first = static_cast<std::size_t>(own.row_offsets[static_cast<std::size_t>(i)]);
    const auto last = static_cast<std::size_t>(own.row_offsets[static_cast<std::size_t>(i) + 1]);
    const auto row = static_cast<std::size_t>(own.row_begin + i);
    const auto there = static_cast<std::size_t>(all.row_offsets[row]);
    ASSERT_EQ(last - first, static_cast<std::size_t>(all.row_offsets[row + 1]) - there) << what << ", row " << row;
    for (std::size_t k = first; k < last; ++k) {
      ASSERT_EQ(own.columns[k], all.columns[there + k - first]) << what << ", row " << row;
      ASSERT_NEAR(own.values[k], all.values[there + k - first], 1e-12 * scale) << what << ", row " << row;
    }
  }
}

bool same(const CsrRows& a, const CsrRows& b) {
  return a.row_offsets == b.row_offsets && a.columns == b.columns && a.values == b.values;
}

class LevelRanks : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::cuda && cuda::device_count() == 0)
      GTEST_SKIP() << "this machine has no GPU, or this build no CUDA backend: nothing was tested";
  }

  /// `make(comm)` is a source, `space(partition, rank)` its near-null space. `entries`: whether entries are the
  /// same, or sizes of levels alone, where couplings are equal but for rounding errors. Returns how many levels
  /// there are.
  template <class Make, class Space>
  std::size_t expect_those_of_one_rank(const Make& make, int unknowns, const Space& space,
                                       const AggregationOptions& options, bool entries = true) {
    const Communicator world(MPI_COMM_WORLD);
    const Communicator self(MPI_COMM_SELF);
    const auto dealt = make(world);
    const auto whole = make(self);
    const Problem several(*dealt, MPI_COMM_WORLD, GetParam(), unknowns);
    const Problem alone(*whole, MPI_COMM_SELF, GetParam(), unknowns);
    const NearNullSpace of_several = space(several.partition, world.rank());
    const GridHierarchy found = to_host(several.context, several.levels(of_several, options, 0.125));
    const GridHierarchy again = to_host(several.context, several.levels(of_several, options, 0.125));
    const GridHierarchy expected = to_host(alone.context, alone.levels(space(alone.partition, 0), options, 0.125));
    EXPECT_EQ(found.size(), expected.size());
    const double scale = several.matrix.norm_inf();
    for (std::size_t l = 0; l < std::min(found.size(), expected.size()); ++l) {
      const std::string level = "level " + std::to_string(l);
      const auto rows = static_cast<double>(expected[l].partition.rows());
      EXPECT_NEAR(static_cast<double>(found[l].partition.rows()), rows, entries ? 0.0 : 0.02 * rows) << level;
      if (entries) expect_rows(found[l].matrix, expected[l].matrix, scale, level + ": matrix");
      EXPECT_TRUE(same(found[l].matrix, again[l].matrix)) << level << ": other bits the second time";
      EXPECT_EQ(found[l].ended, expected[l].ended);
      if (!entries || l + 1 == found.size()) continue;
      if (testing::Test::HasFatalFailure()) break;
      expect_rows(found[l].interpolation, expected[l].interpolation, 1.0, level + ": interpolation");
      expect_rows(found[l].restriction, expected[l].restriction, 1.0, level + ": restriction");
    }
    return found.size();
  }
};

const auto constant = [](const Partition&, int) { return NearNullSpace{}; };

TEST_P(LevelRanks, OfAGrid) {
  const auto grid = [](const Communicator& comm) { return laplacian3d(comm, {.size = {17, 13, 19}}); };
  for (const GlobalIndex rows_per_rank : {20, 300})
    EXPECT_GE(expect_those_of_one_rank(grid, 1, constant, {0.08, 20, rows_per_rank}), 3U);
}

// Couplings of ghosts are weak by the numbers of their owners.
TEST_P(LevelRanks, OfAGridWithWeakCouplings) {
  const auto grid = [](const Communicator& comm) {
    return laplacian3d(comm, {.size = {17, 13, 19}, .anisotropy = {1.0, 0.5, 0.01}});
  };
  EXPECT_GE(expect_those_of_one_rank(grid, 1, constant, {0.08, 20, 100}), 3U);
}

// Nearly all neighbours lie on other ranks: size and 1618 have no common divisor.
TEST_P(LevelRanks, OfAChainInDisorder) {
  const auto chain = [](const Communicator& comm) {
    const auto entry = [](GlobalIndex i, GlobalIndex j) {
      const GlobalIndex apart = std::abs(i * 1618 % 1501 - j * 1618 % 1501);
      // All different: of equal ones the sums of rounding errors would say which is the stronger.
      return apart == 0 ? 2.5 : apart == 1 ? -1.0 - 1e-4 * static_cast<double>((i + j) % 997) : 0.0;
    };
    return std::make_unique<test::RuleSource>(1501, entry, comm.handle());
  };
  EXPECT_GE(expect_those_of_one_rank(chain, 1, constant, {0.08, 20, 50}), 3U);
}

// Ghosts of which a rank sees a row or two: their nodes come with all three.
TEST_P(LevelRanks, OfNodesThatArePartlySeen) {
  const auto nodes = [](const Communicator& comm) {
    const auto entry = [](GlobalIndex i, GlobalIndex j) {
      const GlobalIndex apart = std::abs(i / 3 - j / 3);
      if (apart == 0) return i == j ? 4.0 : 0.3;
      return apart == 1 && i % 3 == j % 3 && i % 3 != 1 ? -1.0 : 0.0;
    };
    return std::make_unique<test::RuleSource>(900, entry, comm.handle());
  };
  const auto one_a_unknown = [](const Partition&, int) { return NearNullSpace{{}, 0, 3}; };
  EXPECT_GE(expect_those_of_one_rank(nodes, 3, one_a_unknown, {0.02, 20, 60}), 3U);
}

TEST_P(LevelRanks, OfAnElasticBody) {
  ElasticityOptions body;
  body.size = {8, 5, 7};
  const auto source = [&](const Communicator& comm) { return elasticity3d(comm, body); };
  const auto modes = [&](const Partition& partition, int rank) {
    return NearNullSpace{elasticity3d_rigid_body_modes(body, partition.begin(rank), partition.end(rank)), 6, 3};
  };
  EXPECT_GE(expect_those_of_one_rank(source, 3, modes, {0.02, 60, 200}, false), 2U);
}

TEST_P(LevelRanks, OfAGraphWithHubs) {
  const auto graph = [](const Communicator& comm) {
    return graph_laplacian(comm, {.scale = 9, .edge_factor = 8});
  };
  const double any = 1e9;
  EXPECT_GE(expect_those_of_one_rank(graph, 1, constant, {0.0, 5, 100, any, any}), 2U);
  // And it ends where it fills, on all ranks alike.
  expect_those_of_one_rank(graph, 1, constant, {});
}

TEST_P(LevelRanks, TakeAsManyIterationsAsThoseOfOneRank) {
  const LaplacianOptions grid{.size = {33, 32, 31}};
  const auto iterations = [&](MPI_Comm ranks) {
    const Communicator comm(ranks);
    const auto source = laplacian3d(comm, grid);
    Problem problem(*source, ranks, GetParam());
    BlockSpace<double> space(problem.context, problem.partition);
    Amg<float> cycle(with_precision<float>(problem.context), problem.levels({}), {});
    EXPECT_LE(cycle.operator_complexity(), 1.8);
    CastOperator preconditioner(problem.context, cycle);
    const DenseBlock<float> nested = nested_iteration(cycle, 8, 1);
    DenseBlock<double> start(problem.context.device, nested.rows(), nested.cols());
    if (nested.cols() > 0)
      with_precision<float>(problem.context).kernels->convert(nested.view(), {}, start.view());
    LobpcgOptions options;
    options.pairs = 8;
    options.tolerance = 1e-6;
    const auto result =
        lobpcg<double>(space, problem.matrix, nullptr, &preconditioner, nullptr, std::move(start), options);
    const std::vector<double> exact = closed_form_laplacian_eigenvalues(grid, 8);
    for (std::size_t j = 0; j < exact.size(); ++j) EXPECT_NEAR(result.eigenvalues[j], exact[j], 1e-9 * exact[j]);
    return result.iterations;
  };
  EXPECT_NEAR(iterations(MPI_COMM_WORLD), iterations(MPI_COMM_SELF), 2);
}

INSTANTIATE_TEST_SUITE_P(Backends, LevelRanks, ::testing::Values(Backend::host, Backend::cuda),
                         [](const auto& backend) { return std::string(name_of(backend.param)); });

}  // namespace
}  // namespace block_eigs
