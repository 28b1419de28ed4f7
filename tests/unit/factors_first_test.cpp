// Where factors come first, before anything is tried.
#include <gtest/gtest.h>

#include <utility>

#include "tests/support/eigensolver_choice.hpp"
#include "tests/support/factor_sizes.hpp"
#include "tests/support/matrix_traits.hpp"

namespace block_eigs {
namespace {

using test::asked;
using test::choice_for;
using test::diffusion;
using test::enormous;
using test::small;
using test::type_of;

/// A plate of that many rows, by its entries, and by a look at its spectrum where there was one.
MatrixTraits plate(double rows, bool seen) {
  MatrixTraits traits = diffusion(rows, 13);
  traits.least_diagonal = 20.0;
  traits.norm_inf = traits.least_row = 64.0;
  traits.dominant = 0.0;
  traits.scaled_norm = 3.2;
  if (seen) traits.wanted_end = {true, rows, 0.0, 0.045, 1.05, 0.01, 0.0, 64.0};
  return traits;
}

TEST(FactorsFirst, FactorsComeFirstWhereTheSpectrumSaysThatNothingElseDoes) {
  for (const bool seen : {false, true}) {
    EigensolverChoice choice = choice_for(plate(1e4, seen), asked());
    EXPECT_NE(type_of(choice), PreconditionerType::direct);
    choice.weigh_factors([] { return std::optional(factors::FactorSize{6.5e5, 1e6, 8e7}); });
    EXPECT_EQ(type_of(choice) == PreconditionerType::direct, seen);
  }
}

/// Of a line the wanted values are many times the first one, of a long box they differ by little beside it.
TEST(FactorsFirst, MultigridDoesNotWhereValuesDifferByLittle) {
  MatrixTraits line = diffusion(7250, 7);
  line.wanted_end = {true, 7250, 0.0, 0.0167, 1.0, 0.4, 0.0, 12.0};
  EXPECT_EQ(type_of(choice_for(line, asked())), PreconditionerType::amg);
  MatrixTraits long_box = line;
  long_box.wanted_end.outermost = long_box.wanted_end.begin = 2.0;
  EXPECT_NE(type_of(choice_for(long_box, asked())), PreconditionerType::amg);
}

/// Many pairs of a matrix of long rows, or few of one in space: what is taken at first, and how often it was asked
/// what factors come to.
std::pair<PreconditionerType, int> at_first(const MatrixTraits& traits, int columns,
                                            const factors::FactorSize& size) {
  EigensolverConfig config = asked();
  config.options.block_size = columns;
  EigensolverChoice choice = choice_for(traits, config);
  int times = 0;
  choice.weigh_factors([&]() -> std::optional<factors::FactorSize> {
    ++times;
    return size;
  });
  return {type_of(choice), times};
}

TEST(FactorsFirst, FactorsAtFirstWhereIterationsAreExpectedToCostMuchMore) {
  using Type = PreconditionerType;
  MatrixTraits stiff = diffusion(1.1e4, 39);
  stiff.zero_sums = stiff.dominant = 0.0;
  stiff.norm_inf = 1e9 * stiff.least_row;
  stiff.lower_bound = -stiff.norm_inf;
  stiff.scaled_norm = 8.0;
  EXPECT_EQ(at_first(stiff, 160, small), (std::pair{Type::direct, 1}));
  EXPECT_EQ(at_first(stiff, 160, enormous), (std::pair{Type::amg, 1}));
  EXPECT_EQ(at_first(stiff, 10, small), (std::pair{Type::direct, 1})) << "of multigrid little is known";
  constexpr factors::FactorSize dear{1e7, 2e7, 4e10};
  EXPECT_EQ(at_first(stiff, 10, dear), (std::pair{Type::amg, 1}));
  EXPECT_EQ(at_first(diffusion(1.1e4, 39), 10, small), (std::pair{Type::amg, 0})) << "iterations are cheap";
  EXPECT_EQ(at_first(diffusion(1e6, 7), 10, small), (std::pair{Type::amg, 0}));
  EXPECT_EQ(at_first(diffusion(1e3, 7), 10, small).first, Type::none) << "filters";
}

}  // namespace
}  // namespace block_eigs
