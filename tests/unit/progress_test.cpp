#include <gtest/gtest.h>

#include <cmath>

#include "apps/report/json.hpp"
#include "apps/report/progress.hpp"

namespace block_eigs {
namespace {

/// The worst residual falls by a factor of ten in `steps_a_digit` iterations of 0.1 s, from 10^8 times its limit.
ProgressText after(int iterations, double steps_a_digit, int last) {
  ProgressText text("pairs", 1e-8);
  for (int i = 1; i <= iterations; ++i) {
    IterationReport report;
    report.iteration = i;
    report.wanted = 6;
    report.converged = 2;
    report.active_columns = 8;
    report.distance = std::pow(10.0, 8.0 - i / steps_a_digit);
    report.last_iteration = last;
    report.seconds = 0.1 * i;
    text.take(report);
  }
  return text;
}

TEST(Progress, SaysHowFarItIsAndHowLongItTakes) {
  // 40 of 80 iterations at one digit in ten.
  EXPECT_EQ(after(40, 10.0, 500).line(200),
            "iteration 40/500: 2/6 pairs, residual 1.0e-04 (goal 1e-08), 4.00 s, about 4.00 s left");
}

TEST(Progress, KnowsWhereIterationsEnd) {
  EXPECT_EQ(after(40, 10.0, 60).line(200),
            "iteration 40/60: 2/6 pairs, residual 1.0e-04 (goal 1e-08), 4.00 s, not done by the last iteration, "
            "2.00 s from now");
  EXPECT_EQ(after(40, 10.0, 0).line(200),
            "iteration 40: 2/6 pairs, residual 1.0e-04 (goal 1e-08), 4.00 s, about 4.00 s left");
}

TEST(Progress, FitsTheTerminal) {
  const ProgressText text = after(40, 10.0, 500);
  for (std::size_t width = 5; width < 120; ++width) EXPECT_LE(text.line(width).size(), width);
  EXPECT_EQ(text.line(70), "iteration 40/500: 2/6 pairs, residual 1.0e-04, about 4.00 s left");
  EXPECT_EQ(text.line(45), "iteration 40/500: 2/6 pairs, residual 1.0e-04");
}

TEST(Json, IsOneLineThatReadsBack) {
  JsonObject object;
  object.add("text", "a \"b\" \\ \n");
  object.add("whole", std::int64_t{-3});
  object.add("tenth", 0.1);
  object.add("none", std::nan(""));
  object.add("list", std::vector<double>{1.0, 2.5e-300});
  object.add("texts", std::vector<std::string>{"x", "y"});
  EXPECT_EQ(object.line(), R"({"text": "a \"b\" \\ \u000a", "whole": -3, "tenth": 0.1, "none": null, )"
                           R"("list": [1, 2.5e-300], "texts": ["x", "y"]})");
}

}  // namespace
}  // namespace block_eigs
