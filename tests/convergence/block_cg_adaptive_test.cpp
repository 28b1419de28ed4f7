#include "solver/block_cg/block_cg_adaptive.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "io/generate/generate.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "tests/support/linear_problem.hpp"

// A preconditioner that is replaced in the middle of a solve.
namespace block_eigs {
namespace {

using test::Problem;

/// A path whose ends are held, rows and columns scaled unevenly: Jacobi undoes that.
double uneven(GlobalIndex i, GlobalIndex j) {
  const auto size = [](GlobalIndex k) { return std::pow(10.0, static_cast<double>(k % 5) / 2.0); };
  const double entry = i == j ? 2.5 : std::abs(i - j) == 1 ? -1.0 : 0.0;
  return size(i) * entry * size(j);
}

/// A ring of 90 points, which maps the constants to nothing.
double ring(GlobalIndex i, GlobalIndex j) {
  const GlobalIndex apart = std::abs(i - j);
  return i == j ? 2.0 : apart == 1 || apart == 89 ? -1.0 : 0.0;
}

/// Decides by a script; notes what it was asked.
struct Script {
  Jacobi<double>* next;
  int patience;  ///< iterations after which another preconditioner is asked for
  std::vector<Limitation> asked{};
  std::vector<bool> have_solved{};
  bool next_by_factors = false;
  int iterations = 0;
  int begun = 0;

  CgDecisions<double> decisions() {
    CgDecisions<double> result;
    result.begin = [this] { ++begun; };
    result.proceed = [this](const IterationReport&) { return ++iterations != patience; };
    result.change = [this](Limitation limitation, bool solved) {
      asked.push_back(limitation);
      have_solved.push_back(solved);
      return asked.size() == 1;
    };
    result.make = [this] { return CgOperators<double>{next, nullptr, nullptr, next_by_factors}; };
    return result;
  }
};

/// x to -x.
class Negative final : public LinearOperator<double> {
 public:
  explicit Negative(BlockSpace<double>& space) : space_(space) {}
  LocalIndex rows() const override { return space_.local_rows(); }
  LocalIndex columns() const override { return space_.local_rows(); }
  void apply(ConstBlockView<double> x, BlockView<double> y) override { space_.kernels().axpby(-1.0, x, 0.0, y); }

 private:
  BlockSpace<double>& space_;
};

struct Adaptive : testing::Test {
  test::RuleSource source{240, uneven};
  Problem<double> problem{source};
  Jacobi<double> jacobi{problem.context, problem.matrix.diagonal()};
};

TEST_F(Adaptive, GoesOnFromTheSolutionsThatThereAre) {
  const DenseBlock<double> f = test::random_rhs(problem.space, 3);
  Script script{&jacobi, 10};
  const auto result = block_cg_adaptive<double>(problem.space, problem.matrix, {}, script.decisions(), f, {}, {});
  test::expect_consistent(problem, f, result, {});
  EXPECT_EQ(script.asked, std::vector<Limitation>{Limitation::stopped});
  for (const Outcome outcome : result.outcomes) EXPECT_EQ(outcome, Outcome::converged);
  const auto alone = block_cg<double>(problem.space, problem.matrix, &jacobi, f, {}, {});
  EXPECT_GT(result.total_iterations, 10);
  EXPECT_LE(result.total_iterations, 10 + alone.total_iterations + 2);
  EXPECT_EQ(result.history.size(), static_cast<std::size_t>(result.total_iterations));
  for (const int taken : result.iterations) EXPECT_LE(taken, result.total_iterations);
}

/// What is begun at zero repeats what is solved alone, to the last bit.
TEST_F(Adaptive, FactorsBeginAtZero) {
  const DenseBlock<double> f = test::random_rhs(problem.space, 3);
  Script script{&jacobi, 10};
  script.next_by_factors = true;
  const auto result = block_cg_adaptive<double>(problem.space, problem.matrix, {}, script.decisions(), f, {}, {});
  test::expect_consistent(problem, f, result, {});
  const auto alone = block_cg<double>(problem.space, problem.matrix, &jacobi, f, {}, {});
  EXPECT_EQ(result.total_iterations, 10 + alone.total_iterations);
  EXPECT_EQ(result.residual_norms, alone.residual_norms);
}

TEST_F(Adaptive, LaterBlocksGoOnWithWhatWasTaken) {
  const DenseBlock<double> f = test::random_rhs(problem.space, 5);
  Script script{&jacobi, 10};
  BlockCgOptions options;
  options.block_size = 2;
  const auto result =
      block_cg_adaptive<double>(problem.space, problem.matrix, {}, script.decisions(), f, {}, options);
  test::expect_consistent(problem, f, result, options);
  EXPECT_EQ(script.begun, 3);
  EXPECT_EQ(script.asked.size(), 1U);
  for (const Outcome outcome : result.outcomes) EXPECT_EQ(outcome, Outcome::converged);
  EXPECT_LT(result.iterations[4], result.iterations[0]);
}

TEST_F(Adaptive, AllThatIsTriedSharesTheIterations) {
  const DenseBlock<double> f = test::random_rhs(problem.space, 3);
  Script script{&jacobi, 10};
  BlockCgOptions options;
  options.max_iterations = 14;
  const auto result =
      block_cg_adaptive<double>(problem.space, problem.matrix, {}, script.decisions(), f, {}, options);
  EXPECT_EQ(result.total_iterations, 14);
  EXPECT_EQ(result.findings.end, BlockCgEnd::out_of_iterations);
  EXPECT_NE(result.remark.find("max_iterations = 14 reached"), std::string::npos) << result.remark;
  script = {&jacobi, 14};
  const auto at_the_end =
      block_cg_adaptive<double>(problem.space, problem.matrix, {}, script.decisions(), f, {}, options);
  EXPECT_EQ(at_the_end.findings.end, BlockCgEnd::out_of_iterations) << "stopped by both at once";
}

/// Two paths that nothing couples, the entries of one 1e8 times those of the other.
double two_paths(GlobalIndex i, GlobalIndex j) {
  if ((i < 120) != (j < 120)) return 0.0;
  const double entry = i == j ? 2.1 : std::abs(i - j) == 1 ? -1.0 : 0.0;
  return i < 120 ? entry : 1e8 * entry;
}

/// 10 epsilon ||A|| ||x|| is a hundred times the tolerance there, and rounding errors in A x are far below.
TEST(AdaptiveScales, RowsOfDifferentSizeAreNotDoneAtTheLimitOfTheLargest) {
  test::RuleSource source{240, two_paths};
  Problem<double> problem{source};
  Jacobi<double> jacobi{problem.context, problem.matrix.diagonal()};
  const DenseBlock<double> f = test::random_rhs(problem.space, 3);
  Script script{&jacobi, -1};
  CgDecisions<double> decisions = script.decisions();
  decisions.proceed = [&](const IterationReport& report) { return !script.asked.empty() || report.worst > 30.0; };
  const auto result = block_cg_adaptive<double>(problem.space, problem.matrix, {&jacobi}, decisions, f, {}, {});
  test::expect_consistent(problem, f, result, {});
  EXPECT_EQ(script.asked, std::vector<Limitation>{Limitation::stopped}) << "stopped above the tolerance";
  for (const Outcome outcome : result.outcomes) EXPECT_EQ(outcome, Outcome::converged);
}

TEST_F(Adaptive, AnIndefinitePreconditionerIsReplaced) {
  Negative faulty(problem.space);
  const DenseBlock<double> f = test::random_rhs(problem.space, 3);
  Script script{&jacobi, -1};
  const auto result =
      block_cg_adaptive<double>(problem.space, problem.matrix, {&faulty}, script.decisions(), f, {}, {});
  test::expect_consistent(problem, f, result, {});
  EXPECT_EQ(script.asked, std::vector<Limitation>{Limitation::preconditioner});
  for (const Outcome outcome : result.outcomes) EXPECT_EQ(outcome, Outcome::converged);
}

/// F = 0 has a solution, random right-hand sides have none.
TEST(AdaptiveBlockCg, SaysHowMuchOfABlockIsSolved) {
  test::RuleSource source(90, ring);
  Problem<double> problem(source);
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  for (const LocalIndex solvable : {1, 2}) {
    const LocalIndex columns = 3;
    DenseBlock<double> f = test::random_rhs(problem.space, columns);
    problem.space.kernels().fill(f.columns(0, solvable), 0.0);
    Script script{&jacobi, -1};
    block_cg_adaptive<double>(problem.space, problem.matrix, {}, script.decisions(), f, {}, {});
    ASSERT_FALSE(script.have_solved.empty());
    EXPECT_EQ(script.have_solved.front(), 2 * solvable >= columns) << solvable;
  }
}

/// The second block holds what has no solution, alone.
TEST(AdaptiveBlockCg, RemembersThatABlockWasSolved) {
  test::RuleSource source(90, ring);
  Problem<double> problem(source);
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  DenseBlock<double> f = test::random_rhs(problem.space, 4);
  problem.space.kernels().fill(f.columns(0, 2), 0.0);
  Script script{&jacobi, -1};
  BlockCgOptions options;
  options.block_size = 2;
  block_cg_adaptive<double>(problem.space, problem.matrix, {}, script.decisions(), f, {}, options);
  ASSERT_FALSE(script.have_solved.empty());
  EXPECT_TRUE(script.have_solved.front());
}

TEST(AdaptiveBlockCg, AnIndefiniteMatrixIsNoPreconditionersFault) {
  test::RuleSource source(150, [](GlobalIndex i, GlobalIndex j) {
    return i == j ? 1.0 : std::abs(i - j) == 1 ? -1.0 : 0.0;
  });
  Problem<double> problem(source);
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  const DenseBlock<double> f = test::random_rhs(problem.space, 4);
  Script script{&jacobi, -1};
  const auto result = block_cg_adaptive<double>(problem.space, problem.matrix, {}, script.decisions(), f, {}, {});
  EXPECT_TRUE(script.asked.empty());
  EXPECT_NE(result.remark.find("not positive definite"), std::string::npos) << result.remark;
}

TEST(AdaptiveBlockCg, WhatIsLeftUndoneIsNoWorseThanTheStart) {
  // A beam: residuals of conjugate gradients exceed the right-hand side on the way.
  test::RuleSource source(300, [](GlobalIndex i, GlobalIndex j) {
    const GlobalIndex apart = std::abs(i - j);
    return apart == 0 ? (i == 0 || i == 299 ? 5.0 : 6.0) : apart == 1 ? -4.0 : apart == 2 ? 1.0 : 0.0;
  });
  Problem<double> problem(source);
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  const DenseBlock<double> f = test::random_rhs(problem.space, 3);
  for (const int patience : {10, 25, 40}) {
    Script script{&jacobi, patience};
    BlockCgOptions options;
    options.max_iterations = 45;
    const auto result =
        block_cg_adaptive<double>(problem.space, problem.matrix, {}, script.decisions(), f, {}, options);
    test::expect_consistent(problem, f, result, options);
    EXPECT_EQ(script.asked, std::vector<Limitation>{Limitation::stopped});
    for (std::size_t j = 0; j < result.outcomes.size(); ++j) {
      EXPECT_LE(result.residual_norms[j], result.rhs_norms[j] * (1 + 1e-12)) << patience;
    }
  }
}

/// Factors that are none: what was solved before them stays.
TEST(AdaptiveBlockCg, WhatIsSolvedIsNotLostToFactors) {
  test::RuleSource source(300, [](GlobalIndex i, GlobalIndex j) {
    return i == j ? 2.001 : std::abs(i - j) == 1 ? -1.0 : 0.0;
  });
  Problem<double> problem(source);
  Negative factors(problem.space);
  const DenseBlock<double> f = test::random_rhs(problem.space, 3);
  BlockCgOptions options;
  options.tolerance = 1e-2;
  options.shares = {1.0, 1.0, 1e-9};  // the last one takes longer
  int asked = 0;
  CgDecisions<double> decisions;
  decisions.proceed = [](const IterationReport& report) { return report.converged < 2; };
  decisions.change = [&](Limitation, bool) { return ++asked == 1; };
  decisions.make = [&] { return CgOperators<double>{&factors, nullptr, nullptr, true}; };
  const auto result = block_cg_adaptive<double>(problem.space, problem.matrix, {}, decisions, f, {}, options);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(result.outcomes[2], Outcome::not_converged);
  const std::vector<double> norms = test::true_norms(problem, f, result.solution);
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_EQ(result.outcomes[j], Outcome::converged) << j;
    EXPECT_LE(norms[j], 1e-2 * result.rhs_norms[j]) << j;
  }
}

/// Jacobi for one vector, nothing of use for more.
class OnlyForOne final : public LinearOperator<double> {
 public:
  OnlyForOne(BlockSpace<double>& space, Jacobi<double>& jacobi) : jacobi_(jacobi), block_(space) {}
  LocalIndex rows() const override { return block_.rows(); }
  LocalIndex columns() const override { return block_.rows(); }
  void apply(ConstBlockView<double> x, BlockView<double> y) override {
    if (x.cols == 1) {
      jacobi_.apply(x, y);
    } else {
      block_.apply(x, y);
    }
  }

 private:
  Jacobi<double>& jacobi_;
  Negative block_;
};

/// What factors leave of a block is solved one by one, and nobody is asked for another way where the rest has no
/// solution.
TEST(AdaptiveBlockCg, FactorsGoOnWithOneSideAtATime) {
  test::RuleSource source(30, [](GlobalIndex i, GlobalIndex j) {
    const GlobalIndex apart = std::abs(i - j);
    return i == j ? 2.0 : apart == 1 || apart == 29 ? -1.0 : 0.0;
  });
  Problem<double> problem(source);
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  OnlyForOne factors(problem.space, jacobi);
  const DenseBlock<double> x = test::random_rhs(problem.space, 4);
  for (const bool all_in_range : {true, false}) {
    DenseBlock<double> f = problem.space.make_block(4);
    problem.matrix.apply(x.view(), f.view());
    if (!all_in_range) problem.space.copy(x.columns(1, 1), f.columns(1, 1));
    Script script{&jacobi, -1};
    CgOperators<double> operators{&factors};
    operators.by_factors = true;
    const auto result =
        block_cg_adaptive<double>(problem.space, problem.matrix, operators, script.decisions(), f, {}, {});
    test::expect_consistent(problem, f, result, {});
    for (std::size_t j = 0; j < 4; ++j)
      EXPECT_EQ(result.outcomes[j] == Outcome::converged, all_in_range || j != 1) << j;
    EXPECT_EQ(script.have_solved, all_in_range ? std::vector<bool>{} : std::vector<bool>{true});
    EXPECT_EQ(result.findings.singular_matrix, !all_in_range) << result.remark;
    EXPECT_EQ(result.remark.empty(), all_in_range) << result.remark;
  }
}

/// Of the iterations that there are.
TEST(AdaptiveBlockCg, OneSideAtATimeSharesTheIterations) {
  test::RuleSource source(240, uneven);
  Problem<double> problem(source);
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  OnlyForOne factors(problem.space, jacobi);
  const DenseBlock<double> f = test::random_rhs(problem.space, 6);
  CgOperators<double> operators{&factors};
  operators.by_factors = true;
  BlockCgOptions options;
  options.max_iterations = 25;
  Script script{&jacobi, -1};
  const auto result =
      block_cg_adaptive<double>(problem.space, problem.matrix, operators, script.decisions(), f, {}, options);
  EXPECT_EQ(result.total_iterations, 25);
  EXPECT_EQ(result.findings.end, BlockCgEnd::out_of_iterations);
  for (std::size_t j = 0; j < 6; ++j) EXPECT_LE(result.residual_norms[j], result.rhs_norms[j]) << j;
}

TEST(AdaptiveBlockCg, ASingularMatrixIsConfirmedByAnotherPreconditioner) {
  test::RuleSource source(90, ring);
  Problem<double> problem(source);
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  const DenseBlock<double> f = test::random_rhs(problem.space, 2);
  Script script{&jacobi, -1};
  const auto result = block_cg_adaptive<double>(problem.space, problem.matrix, {}, script.decisions(), f, {}, {});
  test::expect_consistent(problem, f, result, {});
  EXPECT_EQ(script.asked, std::vector<Limitation>{Limitation::precision}) << "two ways that agree are enough";
  EXPECT_NE(result.remark.find("singular"), std::string::npos) << result.remark;
}

}  // namespace
}  // namespace block_eigs
