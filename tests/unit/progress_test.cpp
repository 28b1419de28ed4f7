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
            "iteration 40/60: 2/6 pairs, residual 1.0e-04 (goal 1e-08), 4.00 s, stops short in 2.00 s");
  EXPECT_EQ(after(40, 10.0, 0).line(200),
            "iteration 40: 2/6 pairs, residual 1.0e-04 (goal 1e-08), 4.00 s, about 4.00 s left");
}

TEST(Progress, FitsTheTerminal) {
  const ProgressText text = after(40, 10.0, 500);
  for (std::size_t width = 5; width < 120; ++width) EXPECT_LE(text.line(width).size(), width);
  EXPECT_EQ(text.line(79), "iteration 40/500: 2/6 pairs, residual 1.0e-04 (goal 1e-08), about 4.00 s left");
  EXPECT_EQ(text.line(70), "iteration 40/500: 2/6 pairs, residual 1.0e-04/1e-08, about 4.00 s left");
  EXPECT_EQ(text.line(69), "iteration 40: 2/6 pairs, residual 1.0e-04/1e-08, about 4.00 s left");
  EXPECT_EQ(text.line(59), "iteration 40/500: 2/6 pairs, residual 1.0e-04 (goal 1e-08)");
  EXPECT_EQ(text.line(55), "iteration 40/500: 2/6 pairs, residual 1.0e-04/1e-08");
  EXPECT_EQ(text.line(45), "iteration 40/500: 2/6 pairs");
  EXPECT_EQ(after(40, 10.0, 60).line(79),
            "iteration 40/60: 2/6 pairs, residual 1.0e-04/1e-08, stops short in 2.00 s");
}

TEST(Progress, WithoutToleranceResidualsAreThatOfTheirLimit) {
  ProgressText text("pairs", 0.0);
  IterationReport report;
  report.iteration = 3;
  report.wanted = 6;
  report.active_columns = 8;
  report.distance = 1e4;
  report.seconds = 0.5;
  text.take(report);
  EXPECT_EQ(text.line(79), "iteration 3: 0/6 pairs, residual 1.0e+04 times its limit, 0.50 s");
  EXPECT_EQ(text.line(57), "iteration 3: 0/6 pairs, residual 1.0e+04 times its limit");
}

// In float columns come to rest, but none counts as converged; double finds most of them done at once.
TEST(Progress, FloatHandsOverToDouble) {
  ProgressText text("pairs", 1e-8);
  const auto take = [&text](int iteration, int converged, int columns, bool in_float) {
    IterationReport report;
    report.iteration = iteration;
    report.wanted = 6;
    report.converged = converged;
    report.active_columns = columns;
    report.worst = in_float ? 1.0 : 1e4;  // of limits that are not those of the line
    report.distance = std::pow(10.0, 8.0 - iteration / 5.0);
    report.last_iteration = 500;
    report.seconds = 0.1 * iteration;
    report.in_float = in_float;
    text.take(report);
  };
  for (int iteration = 1; iteration <= 20; ++iteration) take(iteration, 0, iteration < 10 ? 8 : 3, true);
  EXPECT_EQ(text.line(79), "iteration 20/500: 0/6 pairs, residual 1.0e-04 (goal 1e-08), about 2.00 s left");
  take(21, 3, 4, false);
  EXPECT_EQ(text.line(79), "iteration 21/500: 3/6 pairs, residual 6.3e-05 (goal 1e-08), about 1.90 s left");
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
