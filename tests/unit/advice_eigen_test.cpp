#include "apps/report/advice_eigen.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

// What block-eigs says of pairs that are not done.
namespace block_eigs {
namespace {

/// Residuals of two pairs of values 4 and 5, the second one falling by `rate` an iteration.
std::vector<LobpcgIteration> history_of(double rate, int iterations) {
  std::vector<LobpcgIteration> history;
  for (int k = 1; k <= iterations; ++k)
    history.push_back({{4.0, 5.0}, {1e-12, 5.0 * std::pow(rate, k)}, 0.1 * k, 2, 2});
  return history;
}

/// As verified after `history`: the second pair is open.
Verification verified_after(const std::vector<LobpcgIteration>& history) {
  const double residual = history.back().residual_norms[1];
  Verification verified;
  verified.eigenvalues = {4.0, 5.0};
  verified.residual_norms = {1e-12, residual};
  verified.attained = {1e-12 / 4.0, residual / 5.0};
  verified.by_norm = {1e-12 / 14.0, residual / 15.0};
  verified.error_bounds = verified.residual_norms;
  verified.outcomes = {Outcome::converged, Outcome::not_converged};
  verified.requested = 1e-8;
  return verified;
}

LobpcgOptions options_for(int pairs) {
  LobpcgOptions options;
  options.pairs = pairs;
  options.block_size = 8;
  return options;
}

UnfinishedEigensolve ended(Limitation limitation, double rate = 0.83, int iterations = 50) {
  const std::vector<LobpcgIteration> history = history_of(rate, iterations);
  return unfinished_eigensolve(verified_after(history), limitation, history, options_for(2));
}

RunConfig config_with(PreconditionerType type, int iterations = 50) {
  RunConfig config;
  config.eigensolver.preconditioner.type = type;
  config.eigensolver.options.max_iterations = iterations;
  return config;
}

const char* const automatic = "eigensolver.preconditioner={type: auto}";

TEST(UnfinishedEigensolve, IsThatOfTheWorstPair) {
  const UnfinishedEigensolve run = ended(Limitation::iterations);
  EXPECT_EQ(run.requested, 1e-8);
  EXPECT_NEAR(run.attained, std::pow(0.83, 50), 1e-12);
  ASSERT_EQ(run.course.size(), 50U);
  EXPECT_NEAR(run.course[9], std::pow(0.83, 10), 1e-12);
  EXPECT_NEAR(run.lowest, 4.0, 1e-11);
}

TEST(UnfinishedEigensolve, IterationsBeforeAPairWasKnownDoNotCount) {
  std::vector<LobpcgIteration> history = history_of(0.83, 50);
  for (std::size_t k = 0; k < 20; ++k) history[k].residual_norms[1] = std::nan("");
  const UnfinishedEigensolve run =
      unfinished_eigensolve(verified_after(history), Limitation::iterations, history, options_for(2));
  EXPECT_EQ(run.course.size(), 30U);
}

TEST(EigenAdvice, NoToleranceThatAnyVectorMeets) {
  UnfinishedEigensolve run = ended(Limitation::precision);
  run.attained = 0.8;
  EXPECT_EQ(advise(run, config_with(PreconditionerType::automatic)).change, "");
  EXPECT_EQ(advise(run, config_with(PreconditionerType::jacobi)).change, automatic);
  RunConfig absolute = config_with(PreconditionerType::automatic);
  absolute.eigensolver.options.convergence = Convergence::absolute;
  EXPECT_EQ(advise(run, absolute).change, "eigensolver.tolerance=2e+00");
}

TEST(EigenAdvice, ALittleMoreIsAskedForWhereThatIsEnough) {
  const Advice advice = advise(ended(Limitation::iterations), config_with(PreconditionerType::jacobi));
  EXPECT_EQ(advice.reason, "at the rate of the last ones about 99 are needed");
  EXPECT_EQ(advice.change, "eigensolver.max_iterations=130");
}

TEST(EigenAdvice, WhereManyMoreAreNeededThePreconditionerIsLeftToAuto) {
  const UnfinishedEigensolve run = ended(Limitation::iterations, 0.98);
  EXPECT_EQ(advise(run, config_with(PreconditionerType::jacobi)).change, automatic);
  // ln 1e-8 / ln 0.98 = 912, and 1.3 times 920.
  EXPECT_EQ(advise(run, config_with(PreconditionerType::automatic)).change, "eigensolver.max_iterations=1200");
}

TEST(EigenAdvice, WithoutARateMoreIterationsOrAuto) {
  const UnfinishedEigensolve run = ended(Limitation::iterations, 0.5, 3);
  EXPECT_EQ(advise(run, config_with(PreconditionerType::automatic, 3)).change, "eigensolver.max_iterations=500");
  EXPECT_EQ(advise(run, config_with(PreconditionerType::chebyshev, 3)).change, automatic);
}

TEST(EigenAdvice, WhereValuesLieCloserThanTheirResidualsTheBlockIsWidened) {
  for (const double apart : {1.0, 1e-3}) {
    const std::vector<LobpcgIteration> history = history_of(1.0, 50);
    Verification verified = verified_after(history);
    verified.eigenvalues[0] = verified.eigenvalues[1] - apart;
    verified.residual_norms[1] = verified.error_bounds[1] = 1e-2;
    const UnfinishedEigensolve run =
        unfinished_eigensolve(verified, Limitation::iterations, history, options_for(2));
    const Advice advice = advise(run, config_with(PreconditionerType::automatic));
    EXPECT_EQ(advice.change, apart == 1.0 ? "eigensolver.max_iterations=500" : "eigensolver.block_size=64");
    // It would widen the block by itself, if that is what is wrong.
    EXPECT_EQ(advise(run, config_with(PreconditionerType::chebyshev)).change, automatic);
  }
}

TEST(EigenAdvice, PairsThatWereNotBegunNeedIterations) {
  const std::vector<LobpcgIteration> history = history_of(0.5, 50);
  const UnfinishedEigensolve run =
      unfinished_eigensolve(verified_after(history), Limitation::iterations, history, options_for(5));
  EXPECT_TRUE(std::isinf(run.attained));
  EXPECT_EQ(advise(run, config_with(PreconditionerType::automatic, 200)).change, "eigensolver.max_iterations=800");
}

TEST(EigenAdvice, ACycleOfAnIndefiniteMatrixIsShifted) {
  UnfinishedEigensolve run = ended(Limitation::preconditioner);
  RunConfig config = config_with(PreconditionerType::amg);
  EXPECT_EQ(advise(run, config).change, automatic) << "no negative value";
  run.lowest = -20.0;
  EXPECT_EQ(advise(run, config).change, "eigensolver.preconditioner.shift=-21");
  config.eigensolver.preconditioner.amg.shift = -30.0;
  EXPECT_EQ(advise(run, config).change, automatic) << "shifted already";
}

TEST(EigenAdvice, AtTheLimitOfThePrecision) {
  UnfinishedEigensolve run = ended(Limitation::precision);
  run.attained = 3e-6;
  RunConfig config = config_with(PreconditionerType::automatic);
  EXPECT_EQ(advise(run, config).change, "eigensolver.tolerance=6e-06");
  config.precision = Precision::float32;
  EXPECT_EQ(advise(run, config).change, "precision=double");
  run.attained = 30.0;
  EXPECT_EQ(advise(run, config).change, "precision=double");
  EXPECT_EQ(advise(run, config).reason, "rounding errors are as large as the values");
}

/// Two zeros, with residuals that are rounding errors.
UnfinishedEigensolve of_zeros(double by_norm) {
  Verification verified = verified_after(history_of(0.5, 10));
  verified.eigenvalues = {-1e-17, 3e-25};
  verified.residual_norms = {1e-15, 6e-13};
  verified.attained = {1e2, 2e12};
  verified.by_norm = {by_norm, 1e-15};
  verified.outcomes = {Outcome::not_converged, Outcome::not_converged};
  return unfinished_eigensolve(verified, Limitation::none, {}, options_for(2));
}

TEST(EigenAdvice, ZerosAreHeldAgainstTheNorms) {
  const RunConfig config = config_with(PreconditionerType::automatic);
  const Advice advice = advise(of_zeros(2e-13), config);
  EXPECT_EQ(advice.change, "eigensolver.convergence=norm");
  EXPECT_EQ(
      advice.reason,
      "residuals are 2.0e-13 of the norms of A and B, but as large as the values, no digit of which is certain; "
      "where these are zeros, norms are what counts");
  EXPECT_EQ(advise(of_zeros(1e-9), config).change, "eigensolver.convergence=norm");
  EXPECT_EQ(advise(of_zeros(1e-7), config).change, "") << "above the tolerance";
  EXPECT_EQ(advise(of_zeros(std::numeric_limits<double>::infinity()), config).change, "") << "norms are not known";
  const RunConfig named = config_with(PreconditionerType::jacobi);
  EXPECT_EQ(advise(of_zeros(2e-13), named).change, "eigensolver.convergence=norm") << "rounding errors";
  EXPECT_EQ(advise(of_zeros(1e-9), named).change, automatic) << "more than rounding errors";
}

TEST(EigenAdvice, CyclesOfAnIndefiniteMatrixAreNotGivenMoreIterations) {
  const std::vector<LobpcgIteration> history = history_of(0.83, 50);
  Verification verified = verified_after(history);
  verified.eigenvalues = {-4.5, -4.4};
  const auto advised = [&](const RunConfig& config) {
    return advise(unfinished_eigensolve(verified, Limitation::iterations, history, options_for(2)), config);
  };
  RunConfig config = config_with(PreconditionerType::amg);
  EXPECT_EQ(advised(config).change, automatic);
  EXPECT_EQ(advised(config).reason, "A has eigenvalues down to -4.5");
  config.eigensolver.preconditioner.amg.shift = -5.0;
  EXPECT_EQ(advised(config).change, "eigensolver.max_iterations=130") << "shifted already";
  EXPECT_EQ(advised(config_with(PreconditionerType::chebyshev)).change, "eigensolver.max_iterations=130");
  config.eigensolver.preconditioner.amg.shift = 0.0;
  verified.eigenvalues = {-1e-14, 4.4};
  EXPECT_EQ(advised(config).change, "eigensolver.max_iterations=130") << "zero, as far as residuals tell";
}

TEST(EigenAdvice, NothingWhereResidualsAreAsSmallAsAsked) {
  UnfinishedEigensolve run = ended(Limitation::none);
  run.attained = 1e-9;
  const Advice advice = advise(run, config_with(PreconditionerType::automatic));
  EXPECT_TRUE(advice.reason.empty() && advice.change.empty() && advice.other.empty());
}

}  // namespace
}  // namespace block_eigs
