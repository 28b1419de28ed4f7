#include "spmm/parallel/stop_request.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "io/generate/generate.hpp"
#include "solver/block_cg/block_cg.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/lobpcg/lobpcg_mixed.hpp"
#include "tests/support/eigen_problem.hpp"

// A wish of one rank that the run ends: all agree on it at the same place, without a message of its own.
namespace block_eigs {
namespace {

using test::Problem;
using namespace std::chrono_literals;

struct Case {
  explicit Case(int side = 20)
      : problem(*laplacian3d(Communicator(MPI_COMM_WORLD), {.size = {side, side + 1, side + 2}})),
        stop(*problem.context.stop) {}
  bool is_last() const { return problem.comm.rank() == problem.comm.size() - 1; }
  bool same_everywhere(std::int64_t value) const {
    return problem.comm.max(value) == value && -problem.comm.max(-value) == value;
  }
  /// Asks on the last rank, in that iteration.
  Observer asking(int iteration) {
    return [this, iteration](const IterationReport& report) {
      if (report.iteration == iteration && is_last()) stop.request(StopCause::caller);
    };
  }

  Problem<double> problem;
  StopRequest& stop;
};

TEST(StopRequestTest, TravelsWithASum) {
  Case run;
  DenseBlock<double> x = run.problem.space.make_block(2);
  run.problem.space.fill_random(x.view(), 1);
  if (run.is_last()) run.stop.request(StopCause::signal_terminate);
  EXPECT_FALSE(run.problem.space.to_end_early());
  const std::int64_t before = run.problem.comm.collectives();
  const std::vector<double> norms = run.problem.space.column_norms(x.view());
  EXPECT_EQ(run.problem.comm.collectives() - before, run.problem.comm.size() > 1 ? 1 : 0);
  EXPECT_TRUE(run.problem.space.to_end_early());
  EXPECT_EQ(run.stop.own_cause(), run.is_last() ? StopCause::signal_terminate : StopCause::none);
  run.stop.request(StopCause::signal_interrupt);
  if (run.is_last()) {
    EXPECT_EQ(run.stop.own_cause(), StopCause::signal_terminate) << "the first cause stays";
  }
  EXPECT_EQ(norms, run.problem.space.column_norms(x.view())) << "sums are what they were";
}

TEST(StopRequestTest, TimeIsThatOfRankZero) {
  Case run;
  // Clocks of other ranks count for nothing: theirs are set by nobody.
  if (run.problem.comm.is_root()) run.stop.end_after(1e300);
  EXPECT_FALSE(run.problem.space.asks_to_end_early());
  if (run.problem.comm.is_root()) run.stop.end_after(0.0, StopRequest::Clock::now() - 1s);
  EXPECT_TRUE(run.problem.space.asks_to_end_early());
  EXPECT_EQ(run.stop.own_cause(), run.problem.comm.is_root() ? StopCause::time_limit : StopCause::none);
}

TEST(StopRequestTest, EndsLobpcgAnIterationLaterOnAllRanks) {
  for (const bool filtered : {false, true}) {
    for (const int block : {8, 4}) {
      SCOPED_TRACE(std::to_string(block) + (filtered ? " columns, filtered" : " columns"));
      Case run;
      LobpcgOptions options;
      options.pairs = 6;
      options.block_size = block;
      options.tolerance = 1e-13;
      options.filtered_start = filtered;
      const EigenResult<double> result = lobpcg<double>(run.problem.space, run.problem.matrix, nullptr, nullptr,
                                                        nullptr, {}, options, run.asking(2));
      EXPECT_LE(result.iterations, 3);
      EXPECT_TRUE(run.same_everywhere(result.iterations));
      EXPECT_EQ(result.limitation, Limitation::stopped);
      EXPECT_GT(result.eigenvectors.cols(), 0);
      EXPECT_LT(test::orthogonality_error(run.problem.space, result.eigenvectors), 1e-12);
    }
  }
}

TEST(StopRequestTest, EndsIterationsInFloat) {
  Case run;
  const Context<float> context = with_precision<float>(run.problem.context);
  auto source = laplacian3d(run.problem.comm, {.size = {20, 21, 22}});
  DistributedMatrix<float> in_float(context, source->read(run.problem.partition), run.problem.partition,
                                    run.problem.partition);
  LobpcgOptions options;
  options.pairs = 6;
  options.tolerance = 1e-13;
  const EigenResult<double> result = lobpcg_mixed(run.problem.space, run.problem.matrix, nullptr,
                                                  {&in_float, nullptr}, nullptr, {}, options, run.asking(3), {});
  EXPECT_LE(result.iterations, 4);
  EXPECT_TRUE(run.same_everywhere(result.iterations));
  EXPECT_TRUE(result.history.back().in_float);
  EXPECT_EQ(result.eigenvectors.cols(), 6);
}

TEST(StopRequestTest, EndsBlockCgWithAllBlocks) {
  Case run;
  DenseBlock<double> f = run.problem.space.make_block(8);
  run.problem.space.fill_random(f.view(), 3);
  const BlockCgOptions options{1e-12, 500, 3};
  const BlockCgResult<double> result =
      block_cg<double>(run.problem.space, run.problem.matrix, nullptr, f, {}, options, run.asking(5), {});
  EXPECT_LE(result.total_iterations, 6);
  EXPECT_TRUE(run.same_everywhere(result.total_iterations));
  EXPECT_EQ(result.findings.end, BlockCgEnd::stopped);
  ASSERT_EQ(result.residual_norms.size(), 8U);
  for (std::size_t j = 0; j < 8; ++j) EXPECT_LE(result.residual_norms[j], result.rhs_norms[j] * (1.0 + 1e-12));
}

}  // namespace
}  // namespace block_eigs
