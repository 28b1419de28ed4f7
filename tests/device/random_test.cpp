#include <algorithm>
#include <set>

#include "tests/device/reference.hpp"

namespace block_eigs::test {
namespace {

template <class Param>
class FillRandomTest : public DeviceTest<Param> {
 protected:
  using Scalar = typename Param::Scalar;

  HostBlock<Scalar> filled(LocalIndex rows, LocalIndex cols, std::uint64_t seed, GlobalIndex first_row,
                           LocalIndex padding = 0) {
    const auto before = random_block<Scalar>(this->random_, rows, cols, cols + padding);
    DeviceBlock<Scalar> there = this->on_device(before);
    this->kernels_->fill_random(there.view(), seed, first_row);
    HostBlock<Scalar> after = there.download();
    expect_rest_untouched(before, after, 0, cols);
    return after;
  }
};

TYPED_TEST_SUITE(FillRandomTest, EveryBackend, BackendName);

TYPED_TEST(FillRandomTest, DoesNotDependOnHowRowsAndColumnsAreDealt) {
  const GlobalIndex far = GlobalIndex{3'000'000'000};
  const auto whole = this->filled(1000, 11, 42, far);
  for (const LocalIndex first : {0, 1, 377, 999}) {
    const auto part = this->filled(1000 - first, 7, 42, far + first, 3);
    for (LocalIndex i = 0; i < part.rows(); ++i) {
      for (LocalIndex j = 0; j < part.cols(); ++j) ASSERT_EQ(part(i, j), whole(first + i, j));
    }
  }
}

TYPED_TEST(FillRandomTest, IsUniform) {
  const auto x = this->filled(40000, 5, 1, 0);
  constexpr int bins = 16;
  for (LocalIndex j = 0; j < 5; ++j) {
    double mean = 0.0;
    double square = 0.0;
    std::vector<int> histogram(bins, 0);
    for (LocalIndex i = 0; i < x.rows(); ++i) {
      const auto value = static_cast<double>(x(i, j));
      ASSERT_GE(value, -1.0);
      ASSERT_LT(value, 1.0);
      mean += value / x.rows();
      square += value * value / x.rows();
      ++histogram[static_cast<std::size_t>((value + 1.0) / 2.0 * bins)];
    }
    EXPECT_NEAR(mean, 0.0, 5.0 * std::sqrt(1.0 / 3.0 / x.rows()));
    EXPECT_NEAR(square, 1.0 / 3.0, 5.0 * std::sqrt(4.0 / 45.0 / x.rows()));
    double chi_squared = 0.0;
    for (const int count : histogram) {
      const double expected = static_cast<double>(x.rows()) / bins;
      chi_squared += (count - expected) * (count - expected) / expected;
    }
    EXPECT_LT(chi_squared, 44.3);  // 15 degrees of freedom, one in ten thousand
  }
}

TYPED_TEST(FillRandomTest, RowsColumnsAndSeedsAreIndependent) {
  const LocalIndex rows = 40000;
  const auto x = this->filled(rows, 4, 1, 0);
  const auto other_seed = this->filled(rows, 4, 2, 0);
  const double bound = 5.0 / 3.0 / std::sqrt(static_cast<double>(rows));
  double next_row = 0.0;
  double next_column = 0.0;
  double next_seed = 0.0;
  for (LocalIndex i = 0; i + 1 < rows; ++i) {
    const auto value = static_cast<double>(x(i, 0));
    next_row += value * static_cast<double>(x(i + 1, 0)) / rows;
    next_column += value * static_cast<double>(x(i, 1)) / rows;
    next_seed += value * static_cast<double>(other_seed(i, 0)) / rows;
  }
  EXPECT_LT(std::abs(next_row), bound);
  EXPECT_LT(std::abs(next_column), bound);
  EXPECT_LT(std::abs(next_seed), bound);
}

/// The formula is a contract between backends and between versions: start vectors must not change.
TYPED_TEST(FillRandomTest, IsTheSameOnEveryBackend) {
  using T = typename TypeParam::Scalar;
  const auto host = make_device(Backend::host, 0);
  const auto kernels = make_kernels<T>(host);
  DeviceBlock<T> expected(host, HostBlock<T>(500, 9, 9));
  kernels->fill_random(expected.view(), 77, 123456789012);
  EXPECT_EQ(this->filled(500, 9, 77, 123456789012).values(), expected.download().values());
}

TYPED_TEST(FillRandomTest, HardlyRepeats) {
  const auto x = this->filled(2000, 3, 5, 0);
  const std::set<typename TypeParam::Scalar> distinct(x.values().begin(), x.values().end());
  EXPECT_GE(distinct.size(), x.values().size() - 12);
}

}  // namespace
}  // namespace block_eigs::test
