#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "io/generate/generate.hpp"
#include "solver/block_cg/block_cg.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/multigrid/amg.hpp"
#include "solver/multigrid/nested_iteration.hpp"
#include "solver/multigrid/smoothed_aggregation.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "spmm/small_matrix.hpp"
#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"

// Graphs fill up when they are coarsened: a cycle for them must stay cheap, and of use.
namespace block_eigs {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A + B, for rows of the same partition.
CsrRows sum(const CsrRows& a, const CsrRows& b) {
  CsrRows result;
  result.row_begin = a.row_begin;
  result.global_rows = a.global_rows;
  result.global_columns = a.global_columns;
  for (LocalIndex i = 0; i < a.rows(); ++i) {
    for (const CsrRows* part : {&a, &b}) {
      const auto first = part->row_offsets[static_cast<std::size_t>(i)];
      const auto last = part->row_offsets[static_cast<std::size_t>(i) + 1];
      result.columns.insert(result.columns.end(), part->columns.begin() + first, part->columns.begin() + last);
      result.values.insert(result.values.end(), part->values.begin() + first, part->values.begin() + last);
    }
    result.row_offsets.push_back(static_cast<Offset>(result.columns.size()));
  }
  sort_rows(result);
  return result;
}

/// A matrix, and the cycle for it with the time that it took to build.
struct Problem {
  explicit Problem(GlobalIndex size)
      : comm(MPI_COMM_WORLD),
        context(make_context<double>(comm, Backend::host)),
        partition(Partition::uniform(size, comm.size())) {}

  void build(CsrRows matrix_rows) {
    rows = std::move(matrix_rows);
    a = std::make_unique<DistributedMatrix<double>>(context, rows, partition, partition);
    CsrRows copy = rows;
    comm.barrier();
    const auto start = Clock::now();
    amg = std::make_unique<Amg<double>>(context, smoothed_aggregation(comm, std::move(copy), partition, {}),
                                        AmgOptions{});
    setup_seconds = comm.max(seconds_since(start));
  }

  /// Of a product with 16 columns, on average.
  double product_seconds() {
    BlockSpace<double> space(context, partition);
    DenseBlock<double> x = space.make_block(16), y = space.make_block(16);
    space.fill_random(x.view(), 1);
    const auto start = Clock::now();
    for (int k = 0; k < 10; ++k) a->apply(x.view(), y.view());
    return comm.max(seconds_since(start)) / 10;
  }

  int cg_iterations(LinearOperator<double>& preconditioner) {
    BlockSpace<double> space(context, partition);
    DenseBlock<double> f = space.make_block(4);
    space.fill_random(f.view(), 7);
    BlockCgOptions options;
    options.tolerance = 1e-8;
    const auto result = block_cg<double>(space, *a, &preconditioner, f, {}, options);
    for (const Outcome outcome : result.outcomes) EXPECT_EQ(outcome, Outcome::converged);
    return static_cast<int>(result.history.size());
  }

  int lobpcg_iterations(LinearOperator<double>& preconditioner) {
    BlockSpace<double> space(context, partition);
    LobpcgOptions options;
    options.pairs = 4;
    options.tolerance = 1e-5;
    options.max_iterations = 2000;
    const auto result = lobpcg<double>(space, *a, nullptr, &preconditioner, nullptr, {}, options);
    for (const Outcome outcome : result.outcomes) EXPECT_EQ(outcome, Outcome::converged);
    return result.iterations;
  }

  Communicator comm;
  Context<double> context;
  Partition partition;
  CsrRows rows;
  std::unique_ptr<DistributedMatrix<double>> a;
  std::unique_ptr<Amg<double>> amg;
  double setup_seconds = 0.0;
};

/// X^T M X for random X is symmetric, and positive on its diagonal.
void expect_symmetric_positive_definite(Problem& problem) {
  BlockSpace<double> space(problem.context, problem.partition);
  DenseBlock<double> x = space.make_block(12), y = space.make_block(12);
  space.fill_random(x.view(), 3);
  problem.amg->apply(x.view(), y.view());
  SmallMatrix gram(12, 12);
  space.gram({ConstBlockView<double>(x.view())}, {ConstBlockView<double>(y.view())}, gram);
  for (int j = 0; j < 12; ++j) {
    EXPECT_GT(gram(j, j), 0.0);
    for (int i = 0; i < j; ++i) {
      EXPECT_NEAR(gram(i, j), gram(j, i), 1e-11 * gram(j, j));
      EXPECT_LT(gram(i, j) * gram(i, j), gram(i, i) * gram(j, j));
    }
  }
}

/// The R-MAT graph of 2^scale vertices, and a path through all of them: connected, and with long chains of
/// vertices that the graph leaves alone. Positive definite by the ends of the path.
Problem graph_with_path(int scale, int edge_factor) {
  Problem problem(GlobalIndex{1} << scale);
  const auto graph = graph_laplacian(problem.comm, {.scale = scale, .edge_factor = edge_factor});
  const auto path = laplacian1d(problem.comm, {{GlobalIndex{1} << scale}});
  problem.build(sum(graph->read(problem.partition), path->read(problem.partition)));
  return problem;
}

TEST(AmgOnGraphs, SetUpIsBoundedInMemoryAndTime) {
  for (const int edge_factor : {2, 16}) {
    Problem problem = graph_with_path(14, edge_factor);
    EXPECT_LE(problem.amg->operator_complexity(), 2.5);
    EXPECT_LT(problem.setup_seconds, 0.5 + 500 * problem.product_seconds());
    EXPECT_NE(problem.amg->description().find("operator complexity"), std::string::npos);
    expect_symmetric_positive_definite(problem);
  }
}

TEST(AmgOnGraphs, CgTakesNoMoreIterationsThanWithJacobi) {
  Problem problem = graph_with_path(14, 4);
  Jacobi<double> jacobi(problem.context, problem.a->diagonal());
  EXPECT_LE(problem.cg_iterations(*problem.amg), problem.cg_iterations(jacobi) + 3);
}

TEST(AmgOnGraphs, LobpcgTakesNoMoreIterationsThanWithJacobi) {
  Problem problem = graph_with_path(14, 16);
  Jacobi<double> jacobi(problem.context, problem.a->diagonal());
  EXPECT_LE(problem.lobpcg_iterations(*problem.amg), problem.lobpcg_iterations(jacobi) + 3);
}

/// Star graphs: vertex h (size / hubs) is coupled to every `every`-th one.
CsrRows stars(const Problem& problem, GlobalIndex hubs, GlobalIndex every) {
  const GlobalIndex size = problem.partition.rows();
  const GlobalIndex apart = size / hubs;
  CsrRows rows;
  rows.row_begin = problem.partition.begin(problem.comm.rank());
  rows.global_rows = rows.global_columns = size;
  for (GlobalIndex i = rows.row_begin; i < problem.partition.end(problem.comm.rank()); ++i) {
    double degree = 0.0;
    const auto couple = [&](GlobalIndex j) {
      if (i == j) return;
      rows.columns.push_back(j);
      rows.values.push_back(-1.0);
      degree += 1.0;
    };
    if (i % every == 0) {
      for (GlobalIndex hub = 1; hub < size; hub += apart) couple(hub);
    }
    if (i % apart == 1) {
      for (GlobalIndex j = 0; j < size; j += every) couple(j);
    }
    rows.columns.push_back(i);
    rows.values.push_back(degree);
    rows.row_offsets.push_back(static_cast<Offset>(rows.columns.size()));
  }
  sort_rows(rows);
  return rows;
}

TEST(AmgOnGraphs, HubsDoNotKeepAGridFromBeingCoarsened) {
  constexpr GlobalIndex points = 150;
  Problem problem(points * points);
  const auto grid = laplacian2d(problem.comm, {{points, points}});
  problem.build(sum(grid->read(problem.partition), stars(problem, 3, 10)));
  EXPECT_GE(problem.amg->levels(), 3);
  EXPECT_LE(problem.amg->operator_complexity(), 2.5);
  expect_symmetric_positive_definite(problem);
  Jacobi<double> jacobi(problem.context, problem.a->diagonal());
  EXPECT_LE(2 * problem.cg_iterations(*problem.amg), problem.cg_iterations(jacobi));
}

/// A grid, and three terms v v^T with v = e_i + 30 e_j: rows i have eight times their diagonal entry beside it,
/// and a bound of D^-1 A that is made for them covers little of the spectrum of the others.
TEST(AmgOnGraphs, AFewRowsWithLargeCouplingsDoNotSlowDownTheOthers) {
  constexpr GlobalIndex points = 100;
  Problem problem(points * points);
  const auto grid = laplacian2d(problem.comm, {{points, points}});
  problem.build(grid->read(problem.partition));
  const int without = problem.cg_iterations(*problem.amg);
  CsrRows terms;
  terms.row_begin = problem.partition.begin(problem.comm.rank());
  terms.global_rows = terms.global_columns = points * points;
  for (GlobalIndex i = terms.row_begin; i < problem.partition.end(problem.comm.rank()); ++i) {
    for (const GlobalIndex first : {2525, 5050, 7575}) {
      if (i != first && i != first + 1) continue;
      const double own = i == first ? 1.0 : 30.0;
      for (const GlobalIndex j : {first, first + 1}) {
        terms.columns.push_back(j);
        terms.values.push_back(own * (j == first ? 1.0 : 30.0));
      }
    }
    terms.row_offsets.push_back(static_cast<Offset>(terms.columns.size()));
  }
  problem.build(sum(grid->read(problem.partition), terms));
  expect_symmetric_positive_definite(problem);
  EXPECT_LE(problem.cg_iterations(*problem.amg), without + 3);
}

/// What is not coarsened because its rows hardly couple needs no inverse, which is full.
TEST(AmgOnGraphs, ManyRowsThatHardlyCoupleAreNotInverted) {
  constexpr GlobalIndex n = 2500;
  test::RuleSource source(n, [](GlobalIndex i, GlobalIndex j) {
    return i == j ? 1.0 + static_cast<double>(i % 7) : std::abs(i - j) == 1 ? -1e-4 : 0.0;
  });
  Problem problem(n);
  problem.build(source.read(problem.partition));
  EXPECT_EQ(problem.amg->levels(), 1);
  EXPECT_LT(problem.comm.sum(static_cast<double>(problem.amg->bytes())), 1e6);
  EXPECT_LE(problem.cg_iterations(*problem.amg), 6);
}

/// The Laplacian of a cycle: its coarsest level is so good a stand-in that the pairs behind the null vector
/// converge within a few iterations, and the null vector must be as quick.
TEST(AmgOnGraphs, TheNullVectorIsNotLeftBehind) {
  for (const int n : {280, 318, 400}) {
    test::RuleSource cycle(n, [n](GlobalIndex i, GlobalIndex j) {
      const GlobalIndex apart = std::abs(i - j);
      return i == j ? 2.0 : apart == 1 || apart == n - 1 ? -1.0 : 0.0;
    });
    Problem problem(n);
    problem.build(cycle.read(problem.partition));
    BlockSpace<double> space(problem.context, problem.partition);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE("n " + std::to_string(n) + ", seed " + std::to_string(seed));
      const LobpcgOptions options{
          .pairs = 2, .tolerance = 1e-8, .convergence = Convergence::absolute, .seed = seed};
      const auto result = lobpcg<double>(space, *problem.a, nullptr, problem.amg.get(), nullptr,
                                         nested_iteration(*problem.amg, 3, seed), options);
      ASSERT_EQ(result.eigenvalues.size(), 2U) << result.remark;
      EXPECT_NEAR(result.eigenvalues[0], 0.0, 1e-8);
      EXPECT_NEAR(result.eigenvalues[1], 4.0 * std::pow(std::sin(std::acos(-1.0) / n), 2), 1e-8);
    }
  }
}

}  // namespace
}  // namespace block_eigs
