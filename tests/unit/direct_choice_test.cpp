// When `auto` asks what factors would come to, and when it takes them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "apps/choice/linear_choice.hpp"
#include "tests/support/eigensolver_choice.hpp"
#include "tests/support/factor_sizes.hpp"
#include "tests/support/matrix_traits.hpp"

namespace block_eigs {
namespace {

using test::asked;
using test::choice_for;
using test::diffusion;
using test::enormous;
using test::iteration;
using test::small;
using test::type_of;

/// Ways until `choice` has gone on for 300 iterations that come forward by `rate` each, from 1e10.
std::vector<PreconditionerType> ways(EigensolverChoice& choice, double rate) {
  std::vector<PreconditionerType> types{type_of(choice)};
  double worst = 1e10;
  for (int i = 0; i < 300; ++i, worst *= rate) {
    if (choice.proceed(iteration(worst, {1.0, 2.0, 3.0, 4.0}, {1.0, 1.0, 1.0, 1.0}))) continue;
    if (!choice.change(Limitation::stopped)) break;
    types.push_back(type_of(choice));
  }
  return types;
}

TEST(DirectChoice, AsksOnceWhereNothingElseGetsAnywhereAndTakesThem) {
  EigensolverChoice choice = choice_for(diffusion(9e4, 5), asked());
  int times = 0;
  choice.allow_factors([&]() -> std::optional<factors::FactorSize> {
    ++times;
    return small;
  });
  const std::vector<PreconditionerType> types = ways(choice, 0.9999);
  EXPECT_NE(types.front(), PreconditionerType::direct);
  EXPECT_NE(std::find(types.begin(), types.end(), PreconditionerType::direct), types.end());
  EXPECT_EQ(times, 1);
}

/// At 50 and 100 steps.
std::vector<Candidate> amg_and_jacobi() {
  std::vector<Candidate> candidates(2);
  for (Candidate& candidate : candidates) candidate.step = 1.0;
  candidates[0].preconditioner.type = PreconditionerType::amg;
  candidates[0].cost = 50.0;
  candidates[1].preconditioner.type = PreconditionerType::jacobi;
  candidates[1].cost = 100.0;
  return candidates;
}

/// The way after the first one, which has failed, where factors cost `times` as much as is expected of the best
/// that was not tried.
PreconditionerType after_failure(double times) {
  Choice choice(amg_and_jacobi(), {});
  const auto ask = [times] {
    Candidate factors;
    factors.preconditioner.type = PreconditionerType::direct;
    factors.cost = 100.0 * times;
    return std::optional(factors);
  };
  EXPECT_TRUE(choice.change(Limitation::stopped, {1.0, ask}));
  return choice.current().preconditioner.type;
}

TEST(DirectChoice, WhatIsKnownIsWorthTwiceWhatIsExpectedOnceAWayHasFailed) {
  EXPECT_EQ(after_failure(0.5), PreconditionerType::direct);
  EXPECT_EQ(after_failure(1.9), PreconditionerType::direct);
  EXPECT_EQ(after_failure(2.1), PreconditionerType::jacobi);
}

/// The last way of 500 iterations, which come forward by half at first and by nothing after so many; changes that
/// were made.
std::pair<PreconditionerType, int> last_of_slow_ways(int good, const factors::FactorSize& size) {
  EigensolverChoice choice = choice_for(diffusion(9e4, 5), asked());
  choice.allow_factors([&] { return std::optional<factors::FactorSize>(size); });
  int changes = 0;
  int of_this = 0;
  for (int i = 0; i < 500; ++i, ++of_this) {
    const double worst = 1e7 * std::pow(0.5, std::min(of_this, good));
    IterationReport report = iteration(worst, {1.0, 2.0, 3.0, 4.0}, {1.0, 1.0, 1.0, 1.0});
    report.iteration = i;
    report.last_iteration = 500;
    if (choice.proceed(report) || !choice.change(Limitation::stopped)) continue;
    ++changes;
    of_this = 0;
  }
  return {type_of(choice), changes};
}

TEST(DirectChoice, TheLastChangeIsNotForAWayThatWasLeft) {
  constexpr factors::FactorSize dear{1e8, 1e8, 4e12};
  for (int good = 1; good < 20; ++good) {
    const auto [last, changes] = last_of_slow_ways(good, dear);
    EXPECT_EQ(last, PreconditionerType::direct) << good << ": after " << changes << " changes";
  }
}

/// The way at work after factors that come forward by `rate` an iteration, of 500 allowed.
PreconditionerType after_factors_with(double rate) {
  EigensolverChoice choice = choice_for(diffusion(9e4, 5), asked());
  choice.allow_factors([] { return std::optional<factors::FactorSize>(small); });
  while (type_of(choice) != PreconditionerType::direct) {
    if (!choice.change(Limitation::iterations)) break;
  }
  double worst = 1e10;
  for (int i = 0; i < 60; ++i, worst *= rate) {
    IterationReport report = iteration(worst, {1.0, 2.0, 3.0, 4.0}, {1.0, 1.0, 1.0, 1.0});
    report.iteration = i;
    report.last_iteration = 500;
    if (!choice.proceed(report) && choice.change(Limitation::stopped)) break;
  }
  return type_of(choice);
}

TEST(DirectChoice, FactorsAreLeftWhereTheyDoNotComeToTheEndInTime) {
  EXPECT_EQ(after_factors_with(0.95), PreconditionerType::direct);
  EXPECT_NE(after_factors_with(0.9999), PreconditionerType::direct);
}

/// Whether factors that cost 100 degrees at least are asked for when filters have spent so many, and foresee a
/// million more.
bool asked_after(int degrees) {
  std::vector<Candidate> filters(1);
  filters[0].filtered = true;
  filters[0].step = filters[0].cost = 1.0;
  Choice choice(filters, {.degree = 1.0});
  IterationReport report = iteration(1e8, {1.0, 2.0, 3.0, 4.0}, {1.0, 1.0, 1.0, 1.0});
  report.products = report.active_columns * degrees;
  report.products_to_come = report.active_columns * 1e6;
  bool asked = false;
  const auto ask = [&]() -> std::optional<Candidate> {
    asked = true;
    return std::nullopt;
  };
  choice.proceed(report, HUGE_VAL, {100.0, ask});
  return asked;
}

TEST(DirectChoice, NobodyAsksForFactorsAfterTheFirstWordOfFilters) {
  EXPECT_FALSE(asked_after(20));
  EXPECT_TRUE(asked_after(30));
}

/// What the last of four changes is to, of which factors of that size may be one.
PreconditionerType last_of_four(const factors::FactorSize& size) {
  EigensolverChoice choice = choice_for(diffusion(9e4, 5), asked());
  choice.allow_factors([&] { return std::optional<factors::FactorSize>(size); });
  while (choice.change(Limitation::stopped)) continue;
  return type_of(choice);
}

TEST(DirectChoice, TheLastChangeIsNotToFactorsThatNobodyCouldMake) {
  EXPECT_NE(last_of_four(enormous), PreconditionerType::direct);
}

TEST(DirectChoice, NobodyAsksForFactorsOfAPowerLawGraph) {
  MatrixTraits traits = diffusion(9e4, 30);
  traits.longest_row = 16000.0;
  traits.hubs = 1000.0;
  traits.in_hubs = 0.5;
  EigensolverChoice choice = choice_for(traits, asked());
  int times = 0;
  choice.allow_factors([&]() -> std::optional<factors::FactorSize> {
    ++times;
    return small;
  });
  ways(choice, 0.9999);
  EXPECT_EQ(times, 0) << "an ordering of such a graph takes minutes";
}

TEST(DirectChoice, WhatCouldNotBeMadeIsLeftLikeAnyOther) {
  EigensolverChoice choice = choice_for(diffusion(9e4, 5), asked());
  choice.allow_factors([] { return std::optional<factors::FactorSize>(small); });
  while (type_of(choice) != PreconditionerType::direct) ASSERT_TRUE(choice.change(Limitation::iterations));
  choice.lose();
  EXPECT_EQ(type_of(choice), PreconditionerType::none);
  EXPECT_GT(ways(choice, 0.9999).size(), 1U);
}

TEST(DirectChoice, DoesNotAskWhereIterationsComeForward) {
  EigensolverChoice choice = choice_for(diffusion(9e4, 5), asked());
  choice.allow_factors([]() -> std::optional<factors::FactorSize> {
    ADD_FAILURE() << "asked";
    return std::nullopt;
  });
  EXPECT_EQ(ways(choice, 0.4).size(), 1U);
}

TEST(DirectChoice, LeavesAloneWhatIsTooMuchOrCannotBeHad) {
  for (const bool available : {true, false}) {
    EigensolverChoice choice = choice_for(diffusion(9e4, 5), asked());
    choice.allow_factors([&]() -> std::optional<factors::FactorSize> {
      if (!available) return std::nullopt;
      return enormous;
    });
    for (const PreconditionerType type : ways(choice, 0.999)) EXPECT_NE(type, PreconditionerType::direct);
  }
}

/// Ways that were left look cheap for the little that was seen of them: factors are asked for before such a one is
/// taken again.
TEST(DirectChoice, LinearSystemsAreNotSolvedInCircles) {
  const MatrixTraits traits = diffusion(5e3, 5);
  const LinearSolverConfig config;
  LinearSolverChoice choice(traits, cost_model(traits, 0.0, linear_columns(config, 3), 8.0, Backend::host), config,
                            3);
  choice.allow_factors([] { return factors::FactorSize{1e5, 2e4, 1e5}; });
  std::vector<PreconditionerType> types{choice.config().preconditioner.type};
  for (int i = 0; i < 500; ++i) {
    IterationReport report;
    report.active_columns = report.products = 3;
    report.worst = 1e8;
    if (choice.proceed(report)) continue;
    ASSERT_TRUE(choice.change(Limitation::stopped));
    const PreconditionerType next = choice.config().preconditioner.type;
    EXPECT_EQ(std::find(types.begin(), types.end(), next), types.end()) << "again: " << name_of(next);
    types.push_back(next);
    if (next == PreconditionerType::direct) return;
    choice.begin();
  }
  ADD_FAILURE() << "never taken";
}

/// The way and the block's columns once a cluster of 8 has held up iterations for a while.
std::pair<PreconditionerType, LocalIndex> after_a_cluster(const factors::FactorSize& size) {
  EigensolverChoice choice = choice_for(diffusion(9e4, 5), asked());
  choice.allow_factors([&] { return std::optional<factors::FactorSize>(size); });
  std::vector<double> cluster;
  for (int j = 0; j < 8; ++j) cluster.push_back(1.0 + 1e-6 * j);
  const std::vector<double> residuals(8, 1e-3);
  for (int i = 0; i < 300; ++i) {
    if (!choice.proceed(iteration(1e6, cluster, residuals))) break;
  }
  EXPECT_TRUE(choice.change(Limitation::stopped));
  return {type_of(choice), choice.config().options.block_size};
}

TEST(DirectChoice, FactorsComeBeforeAWiderBlockWhereTheyCostLess) {
  const auto [with, columns] = after_a_cluster(small);
  EXPECT_EQ(with, PreconditionerType::direct);
  EXPECT_LT(columns, 64);
  const auto [without, wider] = after_a_cluster(enormous);
  EXPECT_NE(without, PreconditionerType::direct);
  EXPECT_GE(wider, 64);
}

/// The way after filters have spent so many degrees on a cluster in vain, of a matrix whose lower end nothing is
/// known of: Landau levels, say.
PreconditionerType after_filters(double degrees) {
  MatrixTraits traits = diffusion(12'800, 10);
  traits.zero_sums = 0.0;
  traits.least_diagonal = -3.0;
  traits.lower_bound = -traits.norm_inf;
  traits.scaled_norm = 1e4;
  EigensolverChoice choice = choice_for(traits, asked());
  EXPECT_EQ(type_of(choice), PreconditionerType::none);
  choice.allow_factors([] { return std::optional<factors::FactorSize>({8e6, 1e7, 1.6e10}); });
  std::vector<double> cluster;
  for (int j = 0; j < 8; ++j) cluster.push_back(1.0 + 1e-6 * j);
  const std::vector<double> residuals(8, 1e-3);
  IterationReport report = iteration(1e6, cluster, residuals);
  constexpr int filters = 4;
  report.products = static_cast<int>(degrees * report.active_columns / filters);
  report.products_to_come = report.products;  // as they say, one more will do
  for (int i = 0; i < filters; ++i) choice.proceed(report);
  EXPECT_TRUE(choice.change(Limitation::precision));
  return type_of(choice);
}

TEST(DirectChoice, WhatFiltersHaveSpentOnAClusterCounts) {
  EXPECT_EQ(after_filters(40.0), PreconditionerType::none);
  EXPECT_EQ(after_filters(600.0), PreconditionerType::direct);
}

TEST(DirectChoice, MoreIterationsAreAllowedToWaysThatHaveUsedTheirsUp) {
  const std::vector<Candidate> candidates = amg_and_jacobi();
  Choice choice(candidates, {});
  ASSERT_TRUE(choice.change(Limitation::iterations));
  ASSERT_EQ(choice.current().preconditioner.type, PreconditionerType::jacobi);
  EXPECT_EQ(choice.cheapest_other(), HUGE_VAL) << "it has come to its end";
  Choice again(candidates, {});
  again.resume(choice.state(), choice.current().preconditioner);
  EXPECT_EQ(again.cheapest_other(), HUGE_VAL) << "as before";
  again.allow_more_iterations();
  EXPECT_EQ(again.current().preconditioner.type, PreconditionerType::jacobi);
  EXPECT_EQ(again.cheapest_other(), 50.0);
}

/// Whether filters are gone on with that have taken 30 and 100 degrees and foresee so many more each time, beside
/// factors that cost as much as 250.
bool filters_go_on(double first, double second) {
  std::vector<Candidate> candidates(1);
  candidates[0].filtered = true;
  candidates[0].step = candidates[0].cost = 1.0;
  Judgement judgement;
  judgement.degree = 1.0;
  Choice choice(std::move(candidates), judgement);
  const LateCandidate factors{250.0, [] {
                                Candidate candidate;
                                candidate.preconditioner.type = PreconditionerType::direct;
                                candidate.cost = candidate.step = 250.0;
                                return std::optional<Candidate>(candidate);
                              }};
  IterationReport report = iteration(1e6, {1.0, 2.0}, {1.0, 1.0});
  const auto goes_on_after = [&](int degrees, double to_come) {
    report.products = degrees * report.active_columns;
    report.products_to_come = to_come * report.active_columns;
    return choice.proceed(report, HUGE_VAL, factors);
  };
  return goes_on_after(30, first) && goes_on_after(70, second);
}

// Where each foresees more in all than the one before, the next one will, too.
TEST(DirectChoice, FiltersThatForeseeMoreAndMoreAreNotBelieved) {
  EXPECT_TRUE(filters_go_on(300.0, 300.0)) << "330 and 400 in all";
  EXPECT_FALSE(filters_go_on(200.0, 300.0)) << "230 and 400 in all";
  EXPECT_TRUE(filters_go_on(370.0, 300.0)) << "as foreseen";
  EXPECT_TRUE(filters_go_on(std::numeric_limits<double>::quiet_NaN(), 300.0)) << "nothing was foreseen before";
}

/// Half way to the last iteration, where the rate says that these will not do.
TEST(DirectChoice, FactorsBeforeIterationsRunOut) {
  MatrixTraits traits = diffusion(3e3, 9);
  traits.least_diagonal = 0.0;  // which leaves Jacobi and none
  const LinearSolverConfig config;
  LinearSolverChoice choice(traits, cost_model(traits, 0.0, linear_columns(config, 3), 8.0, Backend::host), config,
                            3);
  int times = 0;
  choice.allow_factors([&] {
    ++times;
    return factors::FactorSize{1e5, 2e4, 1e5};
  });
  IterationReport report;
  report.active_columns = report.products = 3;
  report.last_iteration = 100;
  report.worst = 1e8;
  for (report.iteration = 1; report.iteration <= 100; ++report.iteration) {
    report.worst *= 0.9;
    if (!choice.proceed(report)) break;
    EXPECT_EQ(times, report.iteration < 50 ? 0 : 1) << report.iteration;
  }
  EXPECT_EQ(times, 1);
  EXPECT_EQ(report.iteration, 50);
  EXPECT_TRUE(choice.change(Limitation::stopped));
}

/// One right-hand side that the arithmetic cannot solve is no reason to solve all others without factors.
TEST(DirectChoice, FactorsStayWhereTheyHaveSolvedMost) {
  const MatrixTraits traits = diffusion(3e3, 9);
  const LinearSolverConfig config;
  LinearSolverChoice choice(traits, cost_model(traits, 0.0, linear_columns(config, 64), 8.0, Backend::host),
                            config, 64);
  choice.allow_factors([] { return std::optional<factors::FactorSize>(small); });
  const auto type = [&choice] { return choice.config().preconditioner.type; };
  ASSERT_NE(type(), PreconditionerType::direct);
  while (type() != PreconditionerType::direct)
    ASSERT_TRUE(choice.change(Limitation::precision, true)) << "only factors stay";
  EXPECT_FALSE(choice.change(Limitation::precision, true));
  EXPECT_EQ(type(), PreconditionerType::direct);
  EXPECT_TRUE(choice.change(Limitation::precision, false)) << "what solves little may be wrong";
  EXPECT_NE(type(), PreconditionerType::direct);
}

}  // namespace
}  // namespace block_eigs
