#include "solver/multigrid/aggregation/column_numbers.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace block_eigs::aggregation {
namespace {

constexpr GlobalIndex begin = 1000000;
constexpr LocalIndex own = 5000;

/// Numbers are those of a set, and each leads to its place and back.
void expect(const ColumnNumbers& numbers, const std::vector<GlobalIndex>& some,
            const std::vector<GlobalIndex>& more = {}) {
  std::set<GlobalIndex> others;
  for (const std::vector<GlobalIndex>& list : {some, more}) {
    for (const GlobalIndex number : list) {
      if (number < begin || number >= begin + own) others.insert(number);
    }
  }
  ASSERT_EQ(numbers.ghosts(), std::vector<GlobalIndex>(others.begin(), others.end()));
  ASSERT_EQ(numbers.all(), own + static_cast<LocalIndex>(others.size()));
  LocalIndex place = own;
  for (const GlobalIndex number : others) {
    ASSERT_EQ(numbers.local(number), place);
    ASSERT_EQ(numbers.global(place++), number);
  }
  EXPECT_EQ(numbers.local(begin), 0);
  EXPECT_EQ(numbers.local(begin + own - 1), own - 1);
  EXPECT_EQ(numbers.global(own - 1), begin + own - 1);
}

std::vector<GlobalIndex> random_numbers(std::size_t count, GlobalIndex least, GlobalIndex most, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<GlobalIndex> draw(least, most);
  std::vector<GlobalIndex> numbers(count);
  for (GlobalIndex& number : numbers) number = draw(engine);
  return numbers;
}

TEST(ColumnNumbers, OfLayersBeforeAndBehind) {
  std::vector<GlobalIndex> layers;
  for (GlobalIndex i = 0; i < 300; ++i) {
    layers.push_back(begin + own + i);
    layers.push_back(begin - 1 - i);
  }
  expect({begin, own, layers}, layers);
}

TEST(ColumnNumbers, NearAndFarAndRepeatedAndOwn) {
  const std::vector<GlobalIndex> near = random_numbers(4000, begin - 3000, begin + own + 3000, 1);
  const std::vector<GlobalIndex> far = random_numbers(200, 0, 1000 * begin, 2);
  std::vector<GlobalIndex> both = near;
  both.insert(both.end(), far.begin(), far.end());
  expect({begin, own, near}, near);
  expect({begin, own, far}, far);
  expect({begin, own, both}, both);
  expect({ColumnNumbers(begin, own, near), far}, near, far);
  expect({ColumnNumbers(begin, own, far), near}, near, far);
}

TEST(ColumnNumbers, OfNone) {
  expect({begin, own, {}}, {});
  expect({ColumnNumbers(begin, own, {}), std::vector<GlobalIndex>{begin, begin + 1}}, {begin, begin + 1});
  EXPECT_EQ(ColumnNumbers().all(), 0);
}

}  // namespace
}  // namespace block_eigs::aggregation
