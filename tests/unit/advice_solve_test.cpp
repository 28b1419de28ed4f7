#include "apps/report/advice_solve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace block_eigs {
namespace {

constexpr Outcome open = Outcome::not_converged;

std::vector<double> geometric(double rate, int count) {
  std::vector<double> course;
  for (int k = 1; k <= count; ++k) course.push_back(std::pow(rate, k));
  return course;
}

UnfinishedSolve ended(BlockCgEnd end, std::vector<double> course = {}, double residual = 1e-3) {
  UnfinishedSolve run;
  run.findings.end = end;
  run.residuals = {1e-9, residual};
  run.outcomes = {Outcome::converged, open};
  run.course = std::move(course);
  return run;
}

RunConfig config_with(PreconditionerType type, int iterations = 50) {
  RunConfig config;
  config.linear_solver.preconditioner.type = type;
  config.linear_solver.max_iterations = iterations;
  return config;
}

TEST(EstimatedIterations, FollowTheRate) {
  EXPECT_NEAR(estimated_iterations(geometric(0.9, 50), 1e-8), std::log(1e-8) / std::log(0.9), 2.0);
  EXPECT_NEAR(estimated_iterations(geometric(0.5, 10), 1e-8), std::log(1e-8) / std::log(0.5), 2.0);
}

TEST(EstimatedIterations, TheLaterHalfCounts) {
  std::vector<double> course(40, 1.0);
  for (int k = 20; k < 40; ++k) course[static_cast<std::size_t>(k)] = std::pow(0.5, k - 19);
  EXPECT_NEAR(estimated_iterations(course, 1e-8), 20 + std::log(1e-8) / std::log(0.5), 2.0);
}

TEST(EstimatedIterations, NothingIsSaidOfWhatIsNotKnown) {
  EXPECT_EQ(estimated_iterations(geometric(0.5, 3), 1e-8), 0.0);
  EXPECT_EQ(estimated_iterations(geometric(0.9, 50), 0.0), 0.0);
  EXPECT_EQ(estimated_iterations(std::vector<double>(50, 1.0), 1e-8), 0.0);
  EXPECT_EQ(estimated_iterations(geometric(1.1, 50), 1e-8), 0.0);
}

TEST(SolveAdvice, ALittleMoreIsAskedForWhereThatIsEnough) {
  const UnfinishedSolve run = ended(BlockCgEnd::out_of_iterations, geometric(0.83, 50));  // 99 are needed
  const Advice advice = advise(run, config_with(PreconditionerType::jacobi));
  EXPECT_EQ(advice.reason, "at the rate of the last ones about 99 are needed");
  EXPECT_EQ(advice.change, "linear_solver.max_iterations=130");
}

TEST(SolveAdvice, WhereManyMoreAreNeededAnotherPreconditionerIs) {
  const UnfinishedSolve run = ended(BlockCgEnd::out_of_iterations, geometric(0.98, 50));
  for (const auto type : {PreconditionerType::none, PreconditionerType::jacobi, PreconditionerType::chebyshev,
                          PreconditionerType::amg}) {
    EXPECT_EQ(advise(run, config_with(type)).change, "linear_solver.preconditioner={type: auto}");
  }
  EXPECT_EQ(advise(run, config_with(PreconditionerType::direct)).change, "linear_solver.max_iterations=1200");
}

TEST(SolveAdvice, MultigridIsNotForADiagonalThatIsNotPositive) {
  UnfinishedSolve run = ended(BlockCgEnd::out_of_iterations, geometric(0.98, 50));
  run.signs.all_positive = false;
  EXPECT_EQ(advise(run, config_with(PreconditionerType::none)).change,
            "linear_solver.preconditioner={type: auto}");
  EXPECT_EQ(advise(run, config_with(PreconditionerType::jacobi)).change, "linear_solver.max_iterations=1200");
}

TEST(SolveAdvice, AfterAFewIterationsThereIsNoRate) {
  const UnfinishedSolve run = ended(BlockCgEnd::out_of_iterations, geometric(0.5, 3));
  const Advice advice = advise(run, config_with(PreconditionerType::jacobi, 3));
  EXPECT_EQ(advice.reason, "");
  EXPECT_EQ(advice.change, "linear_solver.max_iterations=1000");
}

TEST(SolveAdvice, WithoutProgressAnotherPreconditionerIsNeeded) {
  const UnfinishedSolve run = ended(BlockCgEnd::out_of_iterations, std::vector<double>(50, 0.1));
  const Advice advice = advise(run, config_with(PreconditionerType::jacobi));
  EXPECT_EQ(advice.reason, "the residuals did not fall in the last iterations");
  EXPECT_EQ(advice.change, "linear_solver.preconditioner={type: auto}");
  EXPECT_EQ(advise(run, config_with(PreconditionerType::amg)).change, advice.change);
}

TEST(SolveAdvice, MoreIterationsThanRowsArePromisedNothing) {
  UnfinishedSolve run = ended(BlockCgEnd::out_of_iterations, std::vector<double>(50, 0.1));
  run.tried = {PreconditionerType::jacobi, PreconditionerType::amg};
  run.rows = 200;
  EXPECT_EQ(advise(run, config_with(PreconditionerType::jacobi)).change, "linear_solver.max_iterations=1000");
  run.rows = 40;
  const Advice advice = advise(run, config_with(PreconditionerType::jacobi));
  EXPECT_EQ(advice.change, "");
  EXPECT_NE(advice.other.find("{type: direct}"), std::string::npos);
}

TEST(SolveAdvice, ASolutionThatIsTooLargeNeedsAnotherMatrix) {
  RunConfig config = config_with(PreconditionerType::jacobi);
  EXPECT_NE(advise(ended(BlockCgEnd::too_large), config).other.find("scaling"), std::string::npos);
  config.precision = Precision::float32;
  EXPECT_EQ(advise(ended(BlockCgEnd::too_large), config).change, "precision=double");
}

/// A run with this preconditioner, `auto` or one by its name, as it is configured after advice.
struct Setting {
  PreconditionerType type;
  Precision amg = Precision::float32;
  bool operator==(const Setting&) const = default;
};

/// What the advice after a run that ended so leads to; nothing where it names no preconditioner.
std::vector<Setting> advised_after(const Setting& setting, BlockCgEnd end, bool all_positive) {
  UnfinishedSolve run = ended(end, std::vector<double>(50, 0.5), 0.5);
  run.signs.all_positive = all_positive;
  RunConfig config = config_with(setting.type);
  config.linear_solver.preconditioner.amg.precision = setting.amg;
  if (setting.type == PreconditionerType::automatic) {
    run.tried = {PreconditionerType::jacobi};
    config.linear_solver.preconditioner.type = PreconditionerType::jacobi;
  }
  const std::string change = advise(run, config).change;
  if (change.find("precision=double") != std::string::npos) return {{setting.type, Precision::float64}};
  if (change.find("preconditioner") == std::string::npos) return {};
  for (const auto& [name, type] :
       {std::pair{"auto", PreconditionerType::automatic}, std::pair{"none", PreconditionerType::none},
        std::pair{"jacobi", PreconditionerType::jacobi}, std::pair{"chebyshev", PreconditionerType::chebyshev},
        std::pair{"amg", PreconditionerType::amg}}) {
    if (change.find(name) != std::string::npos) return {{type}};
  }
  return {};
}

TEST(SolveAdvice, NoRunIsAdvisedWhatLedToIt) {
  constexpr std::array ends{BlockCgEnd::out_of_iterations, BlockCgEnd::at_rounding,
                            BlockCgEnd::indefinite_preconditioner, BlockCgEnd::singular_matrix};
  for (const auto type : {PreconditionerType::none, PreconditionerType::jacobi, PreconditionerType::chebyshev,
                          PreconditionerType::amg, PreconditionerType::automatic}) {
    // All settings that advice leads to from here, however the runs end.
    const Setting start{type};
    std::vector<Setting> reached{start};
    for (std::size_t k = 0; k < reached.size() && k < 100; ++k) {
      for (const BlockCgEnd end : ends) {
        for (const bool positive : {true, false}) {
          for (const Setting& next : advised_after(reached[k], end, positive)) {
            EXPECT_NE(next, start) << "from preconditioner " << static_cast<int>(type);
            if (std::find(reached.begin(), reached.end(), next) == reached.end()) reached.push_back(next);
          }
        }
      }
    }
  }
}

TEST(SolveAdvice, AnIndefiniteMatrixNeedsAnotherMethod) {
  UnfinishedSolve run = ended(BlockCgEnd::indefinite_matrix);
  run.signs.all_positive = false;
  Advice advice = advise(run, config_with(PreconditionerType::jacobi));
  EXPECT_EQ(advice.change, "");
  EXPECT_NE(advice.other.find("MINRES"), std::string::npos);
  run.signs.all_negative = true;
  EXPECT_NE(advise(run, config_with(PreconditionerType::jacobi)).other.find("-A x = -f"), std::string::npos);
}

TEST(SolveAdvice, ASingularMatrixNeedsAnotherRightHandSide) {
  RunConfig config;
  EXPECT_NE(advise(ended(BlockCgEnd::singular_matrix), config).other.find("null vectors"), std::string::npos);
  // In double it may well be none.
  config.precision = Precision::float32;
  EXPECT_EQ(advise(ended(BlockCgEnd::singular_matrix), config).change, "precision=double");
}

TEST(SolveAdvice, APreconditionerThatIsNotPositiveDefiniteIsReplaced) {
  UnfinishedSolve run = ended(BlockCgEnd::indefinite_preconditioner);
  EXPECT_EQ(advise(run, config_with(PreconditionerType::amg)).change,
            "linear_solver.preconditioner.precision=double");
  RunConfig config = config_with(PreconditionerType::amg);
  config.linear_solver.preconditioner.amg.precision = Precision::float64;
  EXPECT_EQ(advise(run, config).change, "linear_solver.preconditioner={type: auto}");
  run.findings.indefinite_matrix = true;
  EXPECT_NE(advise(run, config).other.find("MINRES"), std::string::npos);
}

TEST(SolveAdvice, WhatRoundingErrorsLeaveOpenIsSaid) {
  const UnfinishedSolve run = ended(BlockCgEnd::at_rounding, {}, 3e-7);
  RunConfig config = config_with(PreconditionerType::jacobi);
  EXPECT_EQ(advise(run, config).change, "linear_solver.tolerance=6e-07");
  config.precision = Precision::float32;
  EXPECT_EQ(advise(run, config).change, "precision=double");
  EXPECT_EQ(advise(ended(BlockCgEnd::beyond_range), config).change, "precision=double");
}

TEST(SolveAdvice, TheCommandIsTheOneOfTheRunWithTheChange) {
  const Advice advice{"slow", "linear_solver.preconditioner={type: amg}", ""};
  const std::vector<std::string> overrides{"linear_solver.preconditioner.type=jacobi", "output.file=a b.h5",
                                           "linear_solver.max_iterations=5"};
  EXPECT_EQ(advice_text(advice, "block-solve", "run.yaml", overrides),
            "slow; try: block-solve run.yaml 'output.file=a b.h5' linear_solver.max_iterations=5 "
            "'linear_solver.preconditioner={type: amg}'");
  EXPECT_EQ(advice_text({"", "", "MINRES"}, "block-solve", "run.yaml", overrides), "try: MINRES");
  EXPECT_EQ(advice_text({}, "block-solve", "run.yaml", overrides), "");
}

TEST(SolveAdvice, WhatWasEndedFromOutsideGoesOnFromItsResult) {
  const std::vector<std::string> overrides{"linear_solver.initial.file=old.h5", "max_seconds=60"};
  const Advice advice = go_on_from_result("x.h5", "linear_solver.initial", "/solution");
  EXPECT_EQ(
      advice_text(advice, "block-solve", "run.yaml", overrides),
      "to go on: block-solve run.yaml max_seconds=60 'linear_solver.initial={file: x.h5, dataset: /solution}'");
  const Advice nothing = go_on_from_result("", "eigensolver.initial", "/eigenvectors");
  EXPECT_TRUE(nothing.change.empty());
  EXPECT_FALSE(nothing.reason.empty());
}

TEST(UnfinishedSolve, TheCourseIsThatOfTheSlowestInItsTurn) {
  BlockCgResult<double> result;
  result.rhs_norms = {2.0, 4.0, 1.0};
  result.iterations = {2, 3, 3};
  // The first in iterations 1 and 2, the other two in 3 to 5.
  for (const auto& norms : std::vector<std::vector<double>>{
           {1.0, 4.0, 1.0}, {0.1, 4.0, 1.0}, {0.1, 2.0, 0.5}, {0.1, 1.0, 0.1}, {0.1, 0.4, 0.05}}) {
    result.history.push_back({norms, 0.0, 1});
  }
  const UnfinishedSolve run =
      unfinished_solve(result, {result.rhs_norms, {0.1, 0.4, 0.05}, {Outcome::converged, open, open}});
  EXPECT_EQ(run.course, (std::vector<double>{0.5, 0.25, 0.1}));
  EXPECT_EQ(run.residuals, (std::vector<double>{0.05, 0.1, 0.05}));
}

TEST(UnfinishedSolve, WhatTheArithmeticCannotHoldIsWhatWasVerified) {
  // 1e-170 is zero to a solver in float, and so is the solution.
  BlockCgResult<float> result;
  result.rhs_norms = {0.0};
  result.iterations = {0};
  const UnfinishedSolve run = unfinished_solve(result, {{1e-170}, {1e-170}, {open}});
  EXPECT_EQ(run.residuals, std::vector<double>{1.0});
  EXPECT_TRUE(run.course.empty());
  RunConfig config = config_with(PreconditionerType::jacobi);
  config.precision = Precision::float32;
  EXPECT_EQ(advise(run, config).reason, "the largest relative residual left is 1.0e+00");
}

TEST(SolveAdvice, AutoIsAdvisedNoPreconditioner) {
  UnfinishedSolve run = ended(BlockCgEnd::out_of_iterations, geometric(0.98, 50));
  run.tried = {PreconditionerType::jacobi};
  EXPECT_EQ(advise(run, config_with(PreconditionerType::jacobi)).change, "linear_solver.max_iterations=1200");
  run = ended(BlockCgEnd::indefinite_preconditioner);
  run.tried = {PreconditionerType::amg};
  const Advice advice = advise(run, config_with(PreconditionerType::amg));
  EXPECT_EQ(advice.change, "");
  EXPECT_NE(advice.other.find("MINRES"), std::string::npos);
}

}  // namespace
}  // namespace block_eigs
