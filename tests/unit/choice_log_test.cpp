#include "apps/report/choice_log.hpp"

#include <gtest/gtest.h>

namespace block_eigs {
namespace {

TEST(ChoiceLog, KnowsAtWhichIterationAnotherPreconditionerWasTaken) {
  ChoiceLog log("amg, because rows add up to zero");
  int seen = 0;
  const Observer observer = log.counting([&](const IterationReport&) { ++seen; });
  for (int iteration = 0; iteration < 7; ++iteration) observer({});
  log.take("preconditioner from here on: jacobi, because amg comes forward too slowly");
  log.counting({})({});
  log.take("none instead, because that could not be made: memory");
  EXPECT_EQ(seen, 7);
  ASSERT_EQ(log.records().size(), 3U);
  EXPECT_EQ(log.records()[0].first_iteration, 0);
  EXPECT_EQ(log.records()[0].description, "amg, because rows add up to zero");
  EXPECT_EQ(log.records()[1].first_iteration, 7);
  EXPECT_EQ(log.records()[1].description, "jacobi, because amg comes forward too slowly");
  EXPECT_EQ(log.records()[2].first_iteration, 8);
  EXPECT_EQ(log.records()[2].description, "none instead, because that could not be made: memory");
}

}  // namespace
}  // namespace block_eigs
