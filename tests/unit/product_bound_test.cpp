#include "apps/bench/product_bound.hpp"

#include <gtest/gtest.h>

#include <random>

// What `bench_spmm --check` takes for rounding and what for a wrong product.
namespace block_eigs::bench {
namespace {

/// One row times one column, added up forwards and backwards.
struct Row {
  Row(Offset count, unsigned seed, double least) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> value(0.5, 1.5);
    std::uniform_real_distribution<double> element(least, 1.0);
    for (Offset k = 0; k < count; ++k) {
      products.push_back(static_cast<float>(value(random)) * static_cast<float>(element(random)));
    }
    for (std::size_t k = 0; k < products.size(); ++k) {
      forwards += products[k];
      backwards += products[products.size() - 1 - k];
      magnitude += std::abs(products[k]);
    }
  }
  double excess(float got) const {
    const Offset offsets[] = {0, static_cast<Offset>(products.size())};
    return excess_over_roundings<float>({got}, {backwards}, {magnitude}, offsets, 1);
  }

  std::vector<float> products;
  float forwards = 0.0F, backwards = 0.0F, magnitude = 0.0F;
};

TEST(ProductBoundTest, RoundingInAnyOrderIsNoMistake) {
  for (const Offset count : {1, 2, 9, 64, 500, 10'000, 100'000}) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      for (const double least : {-1.0, 0.0}) {
        const Row row(count, seed, least);
        EXPECT_LE(row.excess(row.forwards), 1.0) << count << " nonzeros, seed " << seed;
      }
    }
  }
}

// 16 machine numbers of the row's magnitude, whatever its length, were allowed once.
TEST(ProductBoundTest, LongRowsRoundByMoreThanABoundWithoutTheirLength) {
  double most = 0.0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Row row(100'000, seed, 0.0);
    most = std::max(most, std::abs(static_cast<double>(row.forwards - row.backwards)) / row.magnitude);
  }
  EXPECT_GT(most, 16.0 * static_cast<double>(std::numeric_limits<float>::epsilon()));
}

TEST(ProductBoundTest, ALostProductIsAMistake) {
  for (const Offset count : {2, 9, 64, 500}) {
    const Row row(count, 3, 0.1);
    EXPECT_GT(row.excess(row.forwards - row.products[1]), 1.0) << count;
  }
}

TEST(ProductBoundTest, NoNumbersAndFullEmptyRowsAreMistakes) {
  const Offset offsets[] = {0, 0, 2};
  const std::vector<double> expected = {0.0, 0.0, 1.0, -3.0};
  const std::vector<double> magnitudes = {0.0, 0.0, 1.0, 5.0};
  const auto excess = [&](const std::vector<double>& got) {
    return excess_over_roundings(got, expected, magnitudes, offsets, 2);
  };
  EXPECT_EQ(excess(expected), 0.0);
  EXPECT_GT(excess({0.0, 1e-300, 1.0, -3.0}), 1.0);
  EXPECT_GT(excess({0.0, 0.0, std::numeric_limits<double>::quiet_NaN(), -3.0}), 1.0);
  EXPECT_GT(excess({0.0, 0.0, 1.0, std::numeric_limits<double>::infinity()}), 1.0);
}

}  // namespace
}  // namespace block_eigs::bench
