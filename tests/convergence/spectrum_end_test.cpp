#include "solver/lanczos/spectrum_end.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <type_traits>
#include <vector>

#include "spmm/parallel/context.hpp"
#include "tests/support/diagonal_operator.hpp"

// Of operators whose eigenvalues are known, for they are diagonal.
namespace block_eigs {
namespace {

using test::DiagonalOperator;
using test::DiagonalRule;

/// Eigenvalues of the Laplacian of a grid of side^dimensions points, with zeros beyond its edge.
DiagonalRule laplacian(int side, int dimensions) {
  return [=](GlobalIndex i) {
    double sum = 0.0;
    for (int d = 0; d < dimensions; ++d, i /= side) {
      const double wave = static_cast<double>(i % side + 1) * std::numbers::pi / (2.0 * (side + 1));
      sum += 4.0 * std::sin(wave) * std::sin(wave);
    }
    return sum;
  };
}

DiagonalRule squared(const DiagonalRule& rule) {
  return [rule](GlobalIndex i) { return rule(i) * rule(i); };
}

template <class T>
class SpectrumEndTest : public ::testing::Test {
 protected:
  SpectrumEnd look(GlobalIndex rows, const DiagonalRule& rule, End end = End::lower,
                   const DiagonalRule& scale = {}) {
    const Communicator comm(MPI_COMM_WORLD);
    Context<T> context = make_context<T>(comm, Backend::host);
    BlockSpace<T> space(context, Partition::uniform(rows, comm.size()));
    DiagonalOperator<T> a(space, rule);
    if (!scale) return look_at_end<T>(space, a, nullptr, end);
    std::vector<T> own;
    for (LocalIndex i = 0; i < space.local_rows(); ++i)
      own.push_back(static_cast<T>(scale(space.first_row() + i)));
    Buffer<T> factors(context.device, own.size());
    factors.upload(own.data());
    return look_at_end<T>(space, a, &factors, end);
  }
};

using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SpectrumEndTest, Precisions);

TYPED_TEST(SpectrumEndTest, SharesFallAsThoseOfAMeshOfSoManyDimensions) {
  const double line = this->look(20000, laplacian(20000, 1)).decay;
  const double space = this->look(40 * 40 * 40, laplacian(40, 3)).decay;
  EXPECT_NEAR(line, 1.0, 0.15);
  EXPECT_NEAR(this->look(300 * 300, laplacian(300, 2)).decay, 2.0, 0.2);
  EXPECT_NEAR(this->look(300 * 300, laplacian(300, 2), End::upper).decay, 2.0, 0.2)
      << "this spectrum is symmetric about its middle";
  EXPECT_NEAR(space, 3.0, 0.45);
}

TYPED_TEST(SpectrumEndTest, OfASquareHalfAsFast) {
  EXPECT_NEAR(this->look(300 * 300, squared(laplacian(300, 2))).decay, 1.0, 0.15);
  EXPECT_NEAR(this->look(40 * 40 * 40, squared(laplacian(40, 3))).decay, 1.5, 0.25);
}

/// Eigenvalues in another order are to the start vectors another matrix. By one vector powers are off by up to
/// 0.3.
TYPED_TEST(SpectrumEndTest, SharesOfFewEigenvaluesAreToldBySeveralVectors) {
  constexpr GlobalIndex rows = 20 * 20 * 20;
  const DiagonalRule squares = squared(laplacian(20, 3));
  for (GlobalIndex first = 0; first < rows; first += rows / 32)
    EXPECT_NEAR(this->look(rows, [&](GlobalIndex i) { return squares((i + first) % rows); }).decay, 1.67, 0.2)
        << first;
}

/// By Weyl's law the w-th eigenvalue of a mesh in the plane is 4 pi w / n where the largest is 8: what tells it
/// from others has a degree of some roots of their ratio.
TYPED_TEST(SpectrumEndTest, StepsAreThoseOfTheDistanceToTheWantedEigenvalues) {
  for (const int side : {100, 300}) {
    const double n = side * side;
    const SpectrumEnd lower = this->look(side * side, laplacian(side, 2));
    for (const double wanted : {8.0, 40.0}) {
      const double ratio = lower.steps_for(wanted) / std::sqrt(8.0 * n / (4.0 * std::numbers::pi * wanted));
      EXPECT_GT(ratio, 1.2) << side << ", " << wanted;
      EXPECT_LT(ratio, 2.4) << side << ", " << wanted;
    }
  }
}

/// Of a long box the values of its cross-section are where the wanted ones begin, which differ by little beside
/// it.
TYPED_TEST(SpectrumEndTest, WhereTheEndOfALongBoxBegins) {
  constexpr int length = 300;
  const DiagonalRule section = laplacian(6, 2);
  const DiagonalRule line = laplacian(length, 1);
  const auto box = [&](GlobalIndex i) { return section(i / length) + line(i % length); };
  const SpectrumEnd end = this->look(6 * 6 * length, box);
  EXPECT_NEAR(end.begin, section(0), 0.05 * section(0));
  for (const int wanted : {3, 10, 30}) {
    const double extent = (line(wanted - 1) - line(0)) / box(0);
    EXPECT_GT(end.relative_extent(wanted), 0.3 * extent) << wanted;
    EXPECT_LT(end.relative_extent(wanted), 3.0 * extent) << wanted;
  }
  EXPECT_EQ(this->look(100 * 100, laplacian(100, 2)).relative_extent(8.0), HUGE_VAL) << "it goes to zero";
  const SpectrumEnd moved = this->look(6 * 6 * length, [&](GlobalIndex i) { return 100.0 + box(i); });
  EXPECT_NEAR(moved.length, 12.0, 2.0);
  EXPECT_NEAR(moved.begin, 100.0 + section(0), 0.1);
}

TYPED_TEST(SpectrumEndTest, ValuesThatStandAloneAreNotTakenForTheRest) {
  constexpr int alone = 3;
  const auto rule = [](GlobalIndex i) {
    return i < alone ? -4.0 - static_cast<double>(i) : 1.0 + 1e-4 * static_cast<double>(i);
  };
  const SpectrumEnd lower = this->look(10000, rule);
  if (std::is_same_v<TypeParam, float>) {
    EXPECT_FALSE(lower.known) << "copies of the three are not told from others";
    return;
  }
  EXPECT_EQ(lower.isolated, alone);
  // Of an even density shares fall as those of a plane. Steps that the three take are lost to the others, more of
  // the first twelve than of the last.
  EXPECT_NEAR(lower.decay, 2.0, 0.6);
  EXPECT_GT(lower.steps_for(8.0), 24.0) << "five of eight are among the rest";
}

/// Components of a graph, say: a mesh, and zero a dozen times before it.
TYPED_TEST(SpectrumEndTest, CopiesOfOneAreCountedByTheirWeight) {
  constexpr int copies = 12;
  const DiagonalRule mesh = laplacian(100, 2);
  const SpectrumEnd end = this->look(100 * 100, [&](GlobalIndex i) { return i < copies ? -0.5 : mesh(i); });
  if (!end.known) return;  // in float
  EXPECT_NEAR(end.isolated, copies, 8);
  EXPECT_LE(end.steps_for(4.0), 24.0);
}

/// More of them than anybody could count are no single value, though a Ritz value stands for them to many digits.
TYPED_TEST(SpectrumEndTest, AClusterIsNotTakenForASingleValue) {
  const DiagonalRule mesh = laplacian(100, 2);
  const SpectrumEnd end = this->look(
      100 * 100, [&](GlobalIndex i) { return i % 20 == 0 ? 1e9 + 1e-4 * static_cast<double>(i) : mesh(i); },
      End::upper);
  if (!end.known) return;  // in float
  EXPECT_LT(end.isolated, 25.0);
  EXPECT_GT(end.share, 0.005);
}

TYPED_TEST(SpectrumEndTest, RowsAreScaledOnBothSides) {
  const DiagonalRule mesh = laplacian(200, 2);
  const auto factor = [](GlobalIndex i) { return std::pow(10.0, static_cast<double>(i % 5) - 2.0); };
  const SpectrumEnd plain = this->look(200 * 200, mesh);
  const SpectrumEnd scaled = this->look(
      200 * 200, [&](GlobalIndex i) { return mesh(i) / (factor(i) * factor(i)); }, End::lower, factor);
  EXPECT_NEAR(scaled.share, plain.share, 0.01 * plain.share);
}

TYPED_TEST(SpectrumEndTest, NothingIsKnownOfWhatIsExhausted) {
  EXPECT_FALSE(this->look(5000, [](GlobalIndex i) { return static_cast<double>(i % 7); }).known);
  EXPECT_FALSE(this->look(4992, [](GlobalIndex i) { return static_cast<double>(i % 24); }).known);
  EXPECT_FALSE(this->look(
                       10, [](GlobalIndex i) { return static_cast<double>(i); }, End::upper)
                   .known);
  EXPECT_FALSE(this->look(5000, [](GlobalIndex) { return 0.0; }).known);
}

}  // namespace
}  // namespace block_eigs
