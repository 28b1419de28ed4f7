#include "solver/block_cg/block_cg_mixed.hpp"

#include <functional>
#include <utility>

#include "io/generate/generate.hpp"
#include "solver/block_cg/block_cg_adaptive.hpp"
#include "solver/preconditioner/chebyshev.hpp"
#include "spmm/error.hpp"
#include "tests/support/kept_state.hpp"
#include "tests/support/linear_problem.hpp"

// Rounds in float under block CG in double: as accurate, and no worse off where float is of no use.
namespace block_eigs {
namespace {

struct Mixed {
  explicit Mixed(MatrixSource& source) : exact(source), rounded(source) {}

  BlockCgResult<double> solve(const DenseBlock<double>& f, const BlockCgOptions& options,
                              DenseBlock<double> initial = {}, LinearOperator<float>* inner = nullptr) {
    return block_cg_mixed(exact.space, exact.matrix, nullptr, rounded.matrix, inner, f, std::move(initial),
                          options);
  }

  test::Problem<double> exact;
  test::Problem<float> rounded;
};

TEST(BlockCgMixed, ReachesWhatDoubleReaches) {
  const Communicator comm(MPI_COMM_WORLD);
  Mixed problem(*laplacian3d(comm, {.size = {15, 14, 13}}));
  const DenseBlock<double> f = test::random_rhs(problem.exact.space, 11);
  for (const double tolerance : {1e-3, 1e-8, 1e-13}) {
    SCOPED_TRACE(tolerance);
    const BlockCgOptions options{.tolerance = tolerance, .block_size = 6};
    const auto mixed = problem.solve(f, options);
    const auto plain = block_cg<double>(problem.exact.space, problem.exact.matrix, nullptr, f, {}, options);
    test::expect_consistent(problem.exact, f, mixed, options);
    EXPECT_EQ(mixed.remark, "");
    EXPECT_LE(mixed.total_iterations, 2 * plain.total_iterations);
    EXPECT_EQ(mixed.history.size(), static_cast<std::size_t>(mixed.total_iterations));
  }
}

TEST(BlockCgMixed, IterationsInDoubleAreFew) {
  const Communicator comm(MPI_COMM_WORLD);
  Mixed problem(*laplacian3d(comm, {.size = {20, 20, 20}}));
  test::CountingOperator<double> counted(problem.exact.matrix);
  const DenseBlock<double> f = test::random_rhs(problem.exact.space, 8);
  const BlockCgOptions options{.tolerance = 1e-8};
  const auto result =
      block_cg_mixed(problem.exact.space, counted, nullptr, problem.rounded.matrix, nullptr, f, {}, options);
  test::expect_consistent(problem.exact, f, result, options);
  EXPECT_GT(result.total_iterations, 20);
  // a product a round, and one for the truth at the end
  EXPECT_LE(counted.count, 8 * 5);
}

TEST(BlockCgMixed, PreconditionersOfTheRoundsAreInFloat) {
  const Communicator comm(MPI_COMM_WORLD);
  Mixed problem(*laplacian3d(comm, {.size = {15, 14, 13}}));
  Chebyshev<float> chebyshev(problem.rounded.context, problem.rounded.matrix, problem.exact.matrix.diagonal(),
                             problem.exact.matrix.scaled_gershgorin_bound(), {});
  const DenseBlock<double> f = test::random_rhs(problem.exact.space, 5);
  const BlockCgOptions options{.tolerance = 1e-10};
  const auto with = problem.solve(f, options, {}, &chebyshev);
  const auto without = problem.solve(f, options);
  test::expect_consistent(problem.exact, f, with, options);
  EXPECT_LT(2 * with.total_iterations, without.total_iterations);
}

TEST(BlockCgMixed, ConditionNumbersBeyondFloatAreLeftToDouble) {
  test::RuleSource source(300, [](GlobalIndex i, GlobalIndex j) {
    return i == j ? std::pow(10.0, -10.0 * static_cast<double>(i) / 299.0) : 0.0;
  });
  Mixed problem(source);
  const DenseBlock<double> f = test::random_rhs(problem.exact.space, 3);
  const BlockCgOptions options{.tolerance = 1e-8, .max_iterations = 3000};
  const auto result = problem.solve(f, options);
  test::expect_consistent(problem.exact, f, result, options);
}

TEST(BlockCgMixed, ZeroColumnsAndFinishedOnesTakeNoIterations) {
  const Communicator comm(MPI_COMM_WORLD);
  Mixed problem(*laplacian3d(comm, {.size = {9, 8, 7}}));
  DenseBlock<double> f = test::random_rhs(problem.exact.space, 4);
  problem.exact.space.kernels().fill(f.columns(2, 1), 0.0);
  const BlockCgOptions options{.tolerance = 1e-9};
  auto first = problem.solve(f, options);
  test::expect_consistent(problem.exact, f, first, options);
  EXPECT_EQ(first.iterations[2], 0);
  const auto again = problem.solve(f, options, std::move(first.solution));
  test::expect_consistent(problem.exact, f, again, options);
  EXPECT_EQ(again.total_iterations, 0);
}

TEST(BlockCgMixed, TheIterationLimitIsThatOfEachBlockAsInDouble) {
  const Communicator comm(MPI_COMM_WORLD);
  Mixed problem(*laplacian3d(comm, {.size = {12, 12, 12}}));
  const DenseBlock<double> f = test::random_rhs(problem.exact.space, 16);
  const BlockCgOptions options{.tolerance = 1e-8, .max_iterations = 60, .block_size = 2};
  const auto plain = block_cg<double>(problem.exact.space, problem.exact.matrix, nullptr, f, {}, options);
  ASSERT_EQ(plain.remark, "");
  const auto mixed = problem.solve(f, options);
  test::expect_consistent(problem.exact, f, mixed, options);
  EXPECT_EQ(mixed.remark, "");
  for (const int iterations : mixed.iterations) EXPECT_LE(iterations, 60);
}

TEST(BlockCgMixed, WhatIsSaidOfTheLimitIsWhatWasAskedFor) {
  const Communicator comm(MPI_COMM_WORLD);
  Mixed problem(*laplacian3d(comm, {.size = {12, 12, 12}}));
  const DenseBlock<double> f = test::random_rhs(problem.exact.space, 6);
  for (const int limit : {0, 7}) {
    const BlockCgOptions options{.tolerance = 1e-10, .max_iterations = limit, .block_size = 3};
    const auto result = problem.solve(f, options);
    test::expect_consistent(problem.exact, f, result, options);
    EXPECT_EQ(result.total_iterations, 2 * limit);
    EXPECT_EQ(result.remark, "max_iterations = " + std::to_string(limit) + " reached");
    for (const Outcome outcome : result.outcomes) EXPECT_EQ(outcome, Outcome::not_converged);
  }
}

/// y = -x
template <class T>
class Negative final : public LinearOperator<T> {
 public:
  explicit Negative(test::Problem<T>& problem) : problem_(problem) {}
  LocalIndex rows() const override { return problem_.matrix.rows(); }
  LocalIndex columns() const override { return rows(); }
  void apply(ConstBlockView<T> x, BlockView<T> y) override { problem_.context.kernels->axpby(-1.0, x, 0.0, y); }

 private:
  test::Problem<T>& problem_;
};

TEST(BlockCgMixed, APreconditionerThatFailsInFloatIsDoneWithoutInDouble) {
  const Communicator comm(MPI_COMM_WORLD);
  Mixed problem(*laplacian3d(comm, {.size = {9, 8, 7}}));
  Negative<float> negative(problem.rounded);
  const DenseBlock<double> f = test::random_rhs(problem.exact.space, 5);
  const BlockCgOptions options{.block_size = 3};
  const auto result = problem.solve(f, options, {}, &negative);
  test::expect_consistent(problem.exact, f, result, options);
  EXPECT_EQ(result.remark, "");
}

/// A in float, of which products are altered; norms so many times as large.
class Altered final : public LinearOperator<float> {
 public:
  using Change = std::function<void(ConstBlockView<float> x, BlockView<float> y)>;

  Altered(LinearOperator<float>& inner, Change change, double norms = 1.0)
      : inner_(inner), change_(std::move(change)), norms_(norms) {}
  LocalIndex rows() const override { return inner_.rows(); }
  LocalIndex columns() const override { return inner_.columns(); }
  double norm_inf() const override { return norms_ * inner_.norm_inf(); }
  void apply(ConstBlockView<float> x, BlockView<float> y) override {
    inner_.apply(x, y);
    change_(x, y);
  }

 private:
  LinearOperator<float>& inner_;
  Change change_;
  double norms_;
};

/// With a part that is not symmetric: p^T A p does not show it, but conjugate gradients get nowhere.
void skew(ConstBlockView<float> x, BlockView<float> y) {
  for (LocalIndex i = 0; i + 1 < x.rows; ++i) {
    for (LocalIndex j = 0; j < x.cols; ++j) {
      y.data[i * y.stride + j] += x.data[(i + 1) * x.stride + j];
      y.data[(i + 1) * y.stride + j] -= x.data[i * x.stride + j];
    }
  }
}

/// A half as large again: rounds with it come forward by two thirds of the way, too little to go on with.
constexpr float half_as_large_again = 1.5F;
void enlarge(ConstBlockView<float>, BlockView<float> y) {
  for (LocalIndex i = 0; i < y.rows; ++i) {
    for (LocalIndex j = 0; j < y.cols; ++j) y.data[i * y.stride + j] *= half_as_large_again;
  }
}

TEST(BlockCgMixed, WithoutProgressFloatLeavesIterationsForDouble) {
  const Communicator comm(MPI_COMM_WORLD);
  Mixed problem(*laplacian3d(comm, {.size = {9, 8, 7}}));
  Altered skewed(problem.rounded.matrix, skew);
  const DenseBlock<double> f = test::random_rhs(problem.exact.space, 4);
  const BlockCgOptions options{.tolerance = 1e-8, .max_iterations = 200};
  const auto result =
      block_cg_mixed(problem.exact.space, problem.exact.matrix, nullptr, skewed, nullptr, f, {}, options);
  test::expect_consistent(problem.exact, f, result, options);
  EXPECT_EQ(result.remark, "");
}

// Who did not ask for float has as many iterations in double as without it.
TEST(BlockCgMixed, ExtraIterationsInFloatTakeNoneFromDouble) {
  const Communicator comm(MPI_COMM_WORLD);
  Mixed problem(*laplacian3d(comm, {.size = {9, 8, 7}}));
  Altered skewed(problem.rounded.matrix, skew);
  const DenseBlock<double> f = test::random_rhs(problem.exact.space, 4);
  BlockCgOptions options{.tolerance = 1e-8};
  const auto plain = block_cg<double>(problem.exact.space, problem.exact.matrix, nullptr, f, {}, options);
  ASSERT_EQ(plain.remark, "");
  options.max_iterations = plain.total_iterations + 2;  // X is not quite zero where float leaves it
  const auto solve = [&] {
    return block_cg_mixed(problem.exact.space, problem.exact.matrix, nullptr, skewed, nullptr, f, {}, options);
  };
  EXPECT_NE(solve().remark, "");
  options.float_is_extra = true;
  const auto mixed = solve();
  test::expect_consistent(problem.exact, f, mixed, options);
  EXPECT_EQ(mixed.remark, "");
  EXPECT_GT(mixed.total_iterations, options.max_iterations);
}

TEST(BlockCgMixed, NorDoTheyWhereARunGoesOnFromARoundInFloat) {
  const Communicator comm(MPI_COMM_WORLD);
  Mixed problem(*laplacian3d(comm, {.size = {9, 8, 7}}));
  Altered enlarged(problem.rounded.matrix, enlarge, half_as_large_again);
  const DenseBlock<double> f = test::random_rhs(problem.exact.space, 4);
  BlockCgOptions options{.tolerance = 1e-8};
  options.float_is_extra = true;
  test::KeptState state(problem.exact.space, 1);
  const auto solve = [&] {
    return block_cg_adaptive<double>(problem.exact.space, problem.exact.matrix, {nullptr, &enlarged}, {}, f, {},
                                     options, {}, {}, &state);
  };
  const auto whole = solve();
  ASSERT_EQ(whole.remark, "");
  const auto in_float = std::count_if(whole.history.begin(), whole.history.end(),
                                      [](const BlockCgIteration& iteration) { return iteration.in_float; });
  ASSERT_GT(in_float, 2);
  options.max_iterations = whole.total_iterations - static_cast<int>(in_float);
  state.give();
  const auto resumed = solve();
  test::expect_consistent(problem.exact, f, resumed, options);
  EXPECT_EQ(resumed.remark, "");
}

TEST(BlockCgMixed, AnErrorThatOthersMayNotHaveIsPassedOn) {
  class Broken final : public LinearOperator<float> {
   public:
    explicit Broken(LinearOperator<float>& inner) : inner_(inner) {}
    LocalIndex rows() const override { return inner_.rows(); }
    LocalIndex columns() const override { return inner_.columns(); }
    void apply(ConstBlockView<float>, BlockView<float>) override { throw RunError("out of memory"); }

   private:
    LinearOperator<float>& inner_;
  };
  const Communicator comm(MPI_COMM_WORLD);
  Mixed problem(*laplacian3d(comm, {.size = {5, 4, 3}}));
  Broken broken(problem.rounded.matrix);
  const DenseBlock<double> f = test::random_rhs(problem.exact.space, 2);
  EXPECT_THROW(block_cg_mixed(problem.exact.space, problem.exact.matrix, nullptr, broken, nullptr, f, {}, {}),
               RunError);
}

TEST(BlockCgMixed, TheObserverSeesEveryIterationOfBothPrecisions) {
  const Communicator comm(MPI_COMM_WORLD);
  Mixed problem(*laplacian3d(comm, {.size = {9, 8, 7}}));
  const DenseBlock<double> f = test::random_rhs(problem.exact.space, 7);
  const std::vector<double> norms = problem.exact.space.column_norms(f.view());
  int calls = 0;
  double seconds = 0.0;
  const auto result =
      block_cg_mixed(problem.exact.space, problem.exact.matrix, nullptr, problem.rounded.matrix, nullptr, f, {},
                     {.tolerance = 1e-12, .block_size = 3}, [&](const IterationReport& report) {
                       EXPECT_EQ(report.iteration, ++calls);
                       EXPECT_EQ(report.wanted, 7);
                       EXPECT_GE(report.seconds, seconds);
                       ASSERT_EQ(report.residual_norms.size(), 7u);
                       // ||f|| before a right-hand side's turn, so of the system itself, not of a scaled one
                       if (calls == 1) {
                         EXPECT_DOUBLE_EQ(report.residual_norms[6], norms[6]);
                       }
                       seconds = report.seconds;
                     });
  EXPECT_EQ(calls, result.total_iterations);
}

TEST(BlockCgMixed, AnIndefiniteMatrixIsNamed) {
  test::RuleSource source(200, [](GlobalIndex i, GlobalIndex j) {
    return i == j ? (i % 5 == 0 ? -1.0 : 2.0) + 0.01 * static_cast<double>(i) : 0.0;
  });
  Mixed problem(source);
  const DenseBlock<double> f = test::random_rhs(problem.exact.space, 3);
  const auto result = problem.solve(f, {.tolerance = 1e-8});
  EXPECT_NE(result.remark, "");
  for (const double norm : result.residual_norms) EXPECT_TRUE(std::isfinite(norm));
}

}  // namespace
}  // namespace block_eigs
