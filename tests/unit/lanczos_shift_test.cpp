#include "apps/choice/lanczos_shift.hpp"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace block_eigs {
namespace {

using Values = std::vector<double>;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

struct Step {
  int converged = 0;
  Values values, residuals;
  int beside = 0;  ///< of the values, the last ones, which are not wanted
};

bool goes_on(LanczosShift& shift, const Step& step) {
  IterationReport report;
  report.wanted = static_cast<int>(step.values.size()) - step.beside;
  report.converged = step.converged;
  report.eigenvalues = step.values;
  report.residual_norms = step.residuals;
  return shift.proceed(report);
}

/// Steps alike until it says no, `most` at the most.
int steps_until_no(LanczosShift& shift, const Step& same, int most = 20) {
  for (int i = 1; i <= most; ++i) {
    if (!goes_on(shift, same)) return i;
  }
  return most + 1;
}

class LanczosShiftTest : public testing::Test {
 protected:
  ShiftFollower follower{Which::smallest, 1e-9, 1.0};
  LanczosShift shift{follower};

  ShiftTarget aim() const {
    ShiftTarget target;
    follower.aim(target, shift.along());
    return target;
  }
};

// What was found before sigma is found again at once: it is not worth a vector.
TEST_F(LanczosShiftTest, GoesToTheFirstWhereAllAreFar) {
  const Values values{-0.03, -0.02, -0.01};
  shift.begin(-1e5, 0);
  EXPECT_EQ(steps_until_no(shift, {1, values, {1e-10, 1e-4, 1e-4}}), 2);
  EXPECT_TRUE(shift.moves());
  EXPECT_EQ(shift.along(), 0);
  EXPECT_FALSE(shift.to_zero());
  EXPECT_EQ(aim().near, -0.03);
  EXPECT_TRUE(aim().found.empty());
}

TEST_F(LanczosShiftTest, StaysWhereTheyAreCloseOrItIsFixed) {
  const Values values{-0.03, -0.02, -0.01};
  const Values residuals{1e-4, 1e-4, 1e-4};
  shift.begin(-0.05, 0);
  EXPECT_EQ(steps_until_no(shift, {0, values, residuals}), 21);
  shift.begin(unknown, 0);
  EXPECT_EQ(steps_until_no(shift, {0, values, residuals}), 21);
  shift.begin(-1e5, 0);
  EXPECT_EQ(steps_until_no(shift, {0, {-0.03, -0.02, unknown}, {1e-4, 1e-4, unknown}}), 21)
      << "not all of them are known";
}

// One alone is to be told from what lies beside it, and not from itself.
TEST_F(LanczosShiftTest, ValuesBesideTheWantedOnesTellHowNearIsNear) {
  const Values residuals{1e-6, 1e-4};
  shift.begin(-0.05, 0);
  EXPECT_EQ(steps_until_no(shift, {0, {-0.03, -0.01}, residuals, 1}), 21);
  shift.begin(-0.05, 0);
  EXPECT_EQ(steps_until_no(shift, {0, {-0.03, -0.0299}, residuals, 1}), 2);
}

TEST_F(LanczosShiftTest, AllThatIsWantedIsNotThrownAway) {
  for (const Which end : {Which::smallest, Which::largest}) {
    const double sign = end == Which::largest ? -1.0 : 1.0;
    ShiftFollower of_end(end, 1e-9, 1.0);
    LanczosShift at_end(of_end);
    at_end.begin(sign * -1e5, 0);
    EXPECT_EQ(steps_until_no(at_end, {2, {sign * -0.03, sign * -0.02}, {1e-10, 1e-10}}), 21);
    EXPECT_EQ(steps_until_no(at_end, {1, {sign * -0.03, sign * -0.02}, {1e-10, 1e-10}}), 2);
  }
}

TEST_F(LanczosShiftTest, PassesThoseThatAreFoundOnceNoMoreCome) {
  const Values values{-5e4, -4e4, 0.01, 0.02};
  shift.begin(-6e4, 0);
  EXPECT_TRUE(goes_on(shift, {0, values, {1e-2, 1e-2, 1e-2, 1e-2}}));
  EXPECT_TRUE(goes_on(shift, {1, values, {1e-9, 1e-2, 1e-2, 1e-2}}));
  EXPECT_TRUE(goes_on(shift, {2, values, {1e-9, 1e-9, 1e-2, 1e-2}}));
  EXPECT_EQ(steps_until_no(shift, {2, values, {1e-9, 1e-9, 1e-3, 1e-3}}), 4);
  EXPECT_EQ(shift.along(), 2);
  EXPECT_EQ(aim().near, 0.01);
  EXPECT_EQ(aim().found, (Values{-5e4, -4e4}));
  // They are no news to the next iteration, which is close to the others.
  shift.moved_to(-0.01, 0.01);
  shift.begin(-0.01, 2);
  EXPECT_FALSE(shift.moves());
  EXPECT_EQ(steps_until_no(shift, {2, values, {1e-9, 1e-9, 1e-3, 1e-3}}), 21);
  EXPECT_EQ(shift.along(), 2);
}

// Each sigma costs a factorisation: one that is hardly nearer than the last was not worth it.
TEST_F(LanczosShiftTest, StaysFromThenOnWhereNoneIsNearer) {
  const Values values{-0.03, -0.02, -0.01};
  const Step far{0, values, {1e-4, 1e-4, 1e-4}};
  shift.begin(-1e5, 0);
  EXPECT_EQ(steps_until_no(shift, far), 2);
  shift.moved_to(-1e2, -0.03);
  shift.begin(-1e2, 0);
  EXPECT_EQ(steps_until_no(shift, far), 2) << "much nearer, and still far";
  shift.moved_to(-0.6e2, 0.01);
  shift.begin(-0.6e2, 0);
  EXPECT_EQ(steps_until_no(shift, far), 21);
}

// Sigma keeps a distance from zero for the sake of rounding errors, which hides what lies within.
TEST_F(LanczosShiftTest, LooksAtZeroOnceForValuesWithinItsDistance) {
  const Step within{0, {1e-12, 2e-12}, {1e-14, 1e-14}};
  shift.begin(-1e-8, 0);
  EXPECT_EQ(steps_until_no(shift, within), 1);
  EXPECT_TRUE(shift.to_zero());
  shift.moved_to(-1e-8, 1e-12);  // no factors of A itself were to be had
  shift.begin(-1e-8, 0);
  EXPECT_EQ(steps_until_no(shift, within), 21) << "rounding errors do not tell them apart";
}

}  // namespace
}  // namespace block_eigs
