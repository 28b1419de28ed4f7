// Powers of two that bring matrices into range, and the way back of what was found.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "apps/input/scaling.hpp"
#include "apps/journey/scaled_units.hpp"
#include "spmm/error.hpp"

namespace block_eigs {
namespace {

TEST(Scaling, OrdinaryEntriesStayAsTheyAre) {
  for (const double entry : {0.0, 1.0, 1e-12, 1e12, 26.0}) {
    EXPECT_EQ(scaling_exponent(entry, false, false), 0) << entry;
    EXPECT_EQ(scaling_exponent(entry, false, true), 0) << entry;
  }
  EXPECT_EQ(scaling_exponent(7e9, true, false), 0);
  EXPECT_EQ(scaling_exponent(1e-6, true, false), 0);
}

TEST(Scaling, TheLargestEntryComesNearOne) {
  for (const double entry : {1e-320, 1e-300, 3e-160, 1e-13, 1e13, 7e160, 1.7e308}) {
    const double scaled = std::ldexp(entry, scaling_exponent(entry, false, false));
    EXPECT_GE(scaled, 1.0) << entry;
    EXPECT_LT(scaled, 2.0) << entry;
    const int even = scaling_exponent(entry, false, true);
    EXPECT_EQ(even % 2, 0) << entry;
    EXPECT_GE(std::ldexp(entry, even), 1.0) << entry;
    EXPECT_LT(std::ldexp(entry, even), 4.0) << entry;
  }
}

TEST(Scaling, SmallEntriesAreOutOfRangeEarlierWhereFloatIsAtWork) {
  EXPECT_EQ(scaling_exponent(0x1p-30, false, false), 0);
  EXPECT_EQ(scaling_exponent(0x1p-30, true, false), 30);
}

TEST(Scaling, ResultsThatWouldNotFitAreRefused) {
  EXPECT_NO_THROW(require_range({-997, 0}, false));
  EXPECT_NO_THROW(require_range({997, 0}, false));
  EXPECT_THROW(require_range({-997, 996}, false), InputError);
  EXPECT_NO_THROW(require_range({0, 200}, true));
  EXPECT_THROW(require_range({0, 204}, true), InputError);
}

class Units : public testing::Test {
 protected:
  static constexpr int rows = 5;
  Context<double> context = make_context<double>(Communicator(MPI_COMM_WORLD), Backend::host);
  BlockSpace<double> space{context, Partition::uniform(rows, 1)};

  DenseBlock<double> block(double value) {
    DenseBlock<double> result = space.make_block(1);
    result.from_host(std::vector<double>(rows, value).data());
    return result;
  }
};

/// A x = lambda B x of a 1 x 1 problem by hand: lambda = A / B, x = B^-1/2.
TEST_F(Units, OfEigenpairs) {
  const Scaling scaling{600, -200};
  const double a = std::ldexp(3.0, -scaling.a);
  const double b = std::ldexp(1.0, -scaling.b);
  EigenResult<double> result;
  result.eigenvalues = {3.0};
  result.residual_norms = {std::ldexp(1.0, -20)};
  result.error_bounds = {std::numeric_limits<double>::quiet_NaN()};
  result.eigenvectors = block(1.0);
  result.history.push_back({{3.0}, {0.5}, 0.0, 1, 1});
  Verification verified;
  verified.eigenvalues = {3.0};
  verified.residual_norms = {std::ldexp(1.0, -20)};
  verified.error_bounds = {std::ldexp(1.0, -20)};
  verified.outcomes = {Outcome::converged};
  undo_scaling(scaling, space, verified, result);
  EXPECT_EQ(verified.eigenvalues[0], a / b);
  EXPECT_EQ(result.eigenvalues[0], a / b);
  EXPECT_EQ(result.history[0].eigenvalues[0], a / b);
  const double x = 1.0 / std::sqrt(b);
  for (const double entry : result.eigenvectors.to_host()) EXPECT_EQ(entry, x);
  // What is 2^-20 of A' x' in the solver's units is 2^-20 of A x in those of the matrices.
  EXPECT_EQ(verified.residual_norms[0], std::ldexp(a * x / 3.0, -20));
  EXPECT_EQ(result.history[0].residual_norms[0], a * x / 6.0);
  EXPECT_EQ(verified.error_bounds[0], std::ldexp(a / b / 3.0, -20));
}

TEST_F(Units, OfAbsoluteTolerances) {
  LobpcgOptions options;
  options.tolerance = 0.25;
  EXPECT_EQ(in_scaled_units(options, {100, 20}).tolerance, 0.25);
  options.convergence = Convergence::absolute;
  EXPECT_EQ(in_scaled_units(options, {100, 20}).tolerance, std::ldexp(0.25, 90));
}

TEST_F(Units, OfShifts) {
  PreconditionerConfig config;
  config.amg.shift = -3.0;
  EXPECT_EQ(in_scaled_units(config, {100, 20}).amg.shift, std::ldexp(-3.0, 100));
}

/// Solutions of which each column is one number again and again, as a solver leaves them.
struct Solutions : Units {
  BlockCgResult<double> result;

  void undo(const std::vector<double>& entries, int exponent) {
    result = {};
    result.solution = space.make_block(static_cast<LocalIndex>(entries.size()));
    for (std::size_t j = 0; j < entries.size(); ++j)
      space.kernels().fill(result.solution.columns(static_cast<LocalIndex>(j), 1), entries[j]);
    result.rhs_norms.assign(entries.size(), 2.0);
    result.residual_norms.assign(entries.size(), 1e-9);
    result.outcomes.assign(entries.size(), Outcome::converged);
    round_to_units({exponent, 0}, space, result);
    undo_scaling({exponent, 0}, space, result);
  }

  /// Those of the columns; zero is out of range.
  void expect(const std::vector<double>& entries) {
    const std::vector<double> all = result.solution.to_host();
    for (std::size_t j = 0; j < entries.size(); ++j) {
      for (std::size_t i = j; i < all.size(); i += entries.size()) EXPECT_EQ(all[i], entries[j]) << j;
      const bool lost = entries[j] == 0.0;
      EXPECT_EQ(result.outcomes[j], lost ? Outcome::not_converged : Outcome::converged) << j;
      EXPECT_EQ(result.residual_norms[j], lost ? 2.0 : 1e-9) << j;
    }
  }
};

TEST_F(Solutions, WhoseNormHasNoSquare) {
  for (const int exponent : {-900, -20, 100}) {
    undo({0x1p900}, exponent);
    expect({std::ldexp(1.0, 900 + exponent)});
    EXPECT_EQ(result.remark, "");
    EXPECT_EQ(result.findings.end, BlockCgEnd::solved);
  }
  undo({0x1p900}, 200);
  expect({0.0});
}

TEST_F(Solutions, WhoseNormIsTooSmallForASquare) {
  undo({0x1p-700}, -200);
  expect({0x1p-900});
  for (const int exponent : {-400, -500, -1000}) {  // denormal numbers, then zeros
    undo({0x1p-650 / 3.0}, exponent);
    expect({0.0});
    EXPECT_NE(result.remark.find("below the range of double"), std::string::npos) << result.remark;
  }
}

TEST_F(Solutions, ThereAndBack) {
  for (const int exponent : {-1050, -997, 1010}) {
    undo({1.0}, exponent);
    expect({std::ldexp(1.0, exponent)});
    scale_initial({exponent, 0}, space, result.solution);
    for (const double entry : result.solution.to_host()) EXPECT_EQ(entry, 1.0);
  }
  undo({1e10}, 997);
  expect({0.0});
  undo({1.0 / 3.0}, -1050);
  expect({0.0});  // powers of two above are exact
}

TEST_F(Solutions, ThatLeaveTheRangeTakeNoOthersAlong) {
  undo({1.0, 0x1p40, 0.0, 3.0, 0x1p60}, 1000);
  EXPECT_EQ(result.outcomes[2], Outcome::converged) << "of a right-hand side that is zero";
  result.outcomes[2] = Outcome::not_converged;
  result.residual_norms[2] = 2.0;
  expect({0x1p1000, 0.0, 0.0, 3 * 0x1p1000, 0.0});
  EXPECT_EQ(result.findings.end, BlockCgEnd::beyond_range);
  EXPECT_NE(result.remark.find("right-hand side 2 would have a norm near 2^104"), std::string::npos)
      << result.remark;
  EXPECT_NE(result.remark.find("above the range of double, and 1 more"), std::string::npos) << result.remark;
}

}  // namespace
}  // namespace block_eigs
