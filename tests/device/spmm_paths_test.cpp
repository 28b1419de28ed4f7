#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "tests/device/reference.hpp"

// Matrices large and odd enough that every way a GPU product can take is taken: rows with the same columns, rows
// that a whole warp shares, rows that cross many blocks, empty rows among them. On other backends the same
// products.
namespace block_eigs::test {
namespace {

/// Columns of row i, ascending, appended to the vector.
using RowColumns = std::function<void(LocalIndex, std::vector<LocalIndex>&)>;

template <class T>
struct Sparse {
  LocalIndex columns = 0;
  std::vector<Offset> offsets{0};
  std::vector<LocalIndex> indices;
  std::vector<T> values;
  std::vector<LocalIndex> map;

  Sparse(Random& random, LocalIndex rows, LocalIndex columns_, const RowColumns& row_columns) : columns(columns_) {
    for (LocalIndex i = 0; i < rows; ++i) {
      row_columns(i, indices);
      offsets.push_back(static_cast<Offset>(indices.size()));
    }
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (std::size_t k = 0; k < indices.size(); ++k) values.push_back(static_cast<T>(uniform(random)));
  }
  LocalIndex rows() const { return static_cast<LocalIndex>(offsets.size()) - 1; }
  LocalIndex target(LocalIndex i) const { return map.empty() ? i : map[static_cast<std::size_t>(i)]; }
};

/// `count` columns spread over all of them, the same for equal `which`.
void spread(LocalIndex which, LocalIndex count, LocalIndex columns, std::vector<LocalIndex>& to) {
  const LocalIndex stretch = columns / count;
  for (LocalIndex k = 0; k < count; ++k) to.push_back(k * stretch + (which * 7919 + k * 31) % stretch);
}

template <class Param>
class SpmmPathsTest : public DeviceTest<Param> {
 protected:
  using T = typename Param::Scalar;

  /// Every algorithm, replacing and adding, at column counts that take one pack, several, and several passes.
  void check_all(Sparse<T>& a, const std::vector<LocalIndex>& columns = {2, 7, 16, 40, 130}) {
    for (const LocalIndex cols : columns) {
      const LocalIndex result_rows = a.rows() == 0 ? 1 : a.target(a.rows() - 1) + 2;
      const auto b = random_block<T>(this->random_, a.columns, cols, cols + cols % 4);
      const auto before = random_block<T>(this->random_, result_rows, cols, cols + cols % 4);
      const Buffer<T> values = upload(this->device_, a.values);
      const Buffer<Offset> offsets = upload(this->device_, a.offsets);
      const Buffer<LocalIndex> indices = upload(this->device_, a.indices);
      const Buffer<LocalIndex> map = upload(this->device_, a.map);
      const CsrView<T> there{a.rows(),       a.columns,     a.offsets.back(), offsets.data(),
                             indices.data(), values.data(), map.data()};
      const DeviceBlock<T> b_there = this->on_device(b);
      const auto accumulate = cols % 3 == 1 ? Accumulate::yes : Accumulate::no;
      std::vector<Result> results;
      for (const auto algorithm : {SpmmAlgorithm::automatic, SpmmAlgorithm::row_split, SpmmAlgorithm::merge}) {
        const auto plan = this->kernels_->analyse(there, {algorithm});
        DeviceBlock<T> c = this->on_device(before);
        this->kernels_->spmm(*plan, there, b_there.view(), c.view(), accumulate, {});
        results.push_back({algorithm, c.download()});
      }
      compare(a, b, before, results, accumulate);
    }
  }

 private:
  struct Result {
    SpmmAlgorithm algorithm;
    HostBlock<T> after;
  };

  /// Every result against sums that are made here, once for all algorithms.
  void compare(const Sparse<T>& a, const HostBlock<T>& b, const HostBlock<T>& before, std::vector<Result>& results,
               Accumulate accumulate) {
    std::vector<Sum> sums(static_cast<std::size_t>(b.cols()));
    for (LocalIndex i = 0; i < a.rows(); ++i) {
      const LocalIndex row = a.target(i);
      for (LocalIndex j = 0; j < b.cols(); ++j) {
        Sum& sum = sums[static_cast<std::size_t>(j)] = Sum{};
        if (accumulate == Accumulate::yes) sum.add(static_cast<double>(before(row, j)));
      }
      const Offset end = a.offsets[static_cast<std::size_t>(i) + 1];
      for (Offset k = a.offsets[static_cast<std::size_t>(i)]; k < end; ++k) {
        const double value = static_cast<double>(a.values[static_cast<std::size_t>(k)]);
        const LocalIndex column = a.indices[static_cast<std::size_t>(k)];
        for (LocalIndex j = 0; j < b.cols(); ++j) {
          sums[static_cast<std::size_t>(j)].add(value * static_cast<double>(b(column, j)));
        }
      }
      const double terms = static_cast<double>(end - a.offsets[static_cast<std::size_t>(i)]) + 2.0;
      for (Result& result : results) {
        for (LocalIndex j = 0; j < b.cols(); ++j) {
          const double got = static_cast<double>(result.after(row, j));
          expect_close<T>(got, sums[static_cast<std::size_t>(j)], terms, row, j);
          result.after(row, j) = before(row, j);  // what is left are the elements beside the result
        }
        if (::testing::Test::HasFailure()) FAIL() << name_of(result.algorithm) << ", " << b.cols() << " columns";
      }
    }
    for (const Result& result : results) {
      ASSERT_EQ(result.after.values(), before.values())
          << name_of(result.algorithm) << ", " << b.cols() << " columns: changed beside the result";
    }
  }
};

TYPED_TEST_SUITE(SpmmPathsTest, EveryBackend, BackendName);

TYPED_TEST(SpmmPathsTest, RunsOfShortRowsWithTheSameColumns) {
  Sparse<typename TestFixture::T> a(this->random_, 90000, 3000,
                                    [](LocalIndex i, auto& to) { spread(i / 3, 5 + i / 3 % 4, 3000, to); });
  this->check_all(a);
}

TYPED_TEST(SpmmPathsTest, RunsOfUnequalNumbersOfRowsAmongEmptyOnes) {
  Sparse<typename TestFixture::T> a(this->random_, 15000, 5000, [](LocalIndex i, auto& to) {
    if (i % 11 < 9) spread(i / 11 * 2 + (i % 11 > 6 ? 1 : 0), 50, 5000, to);
  });
  for (LocalIndex i = 0; i < a.rows(); ++i) a.map.push_back(i + i / 1000);
  this->check_all(a);
}

/// Groups of 3, 5, 6 and 10 lanes, whose tiles are no powers of two; rows that lie dense around multiples of 512
/// fill tiles more than runs of rows that begin at powers of two would let expect.
TYPED_TEST(SpmmPathsTest, ShortRowsOfWhichSomeLieDense) {
  Sparse<typename TestFixture::T> a(this->random_, 120000, 5000, [](LocalIndex i, auto& to) {
    spread(i, (i + 50) % 512 < 100 ? 24 : 3, 5000, to);
  });
  this->check_all(a, {6, 12, 20, 24});
}

TYPED_TEST(SpmmPathsTest, ManyLongRowsOfEqualLengths) {
  Sparse<typename TestFixture::T> a(this->random_, 70000, 3000,
                                    [](LocalIndex i, auto& to) { spread(i, 150 + i % 3, 3000, to); });
  this->check_all(a, {20, 33, 64});
}

// More rows of B than any cache holds.
TYPED_TEST(SpmmPathsTest, ShortRowsFarApartInALargeBlock) {
  constexpr LocalIndex columns = 600'000;
  Sparse<typename TestFixture::T> a(this->random_, 3000, columns,
                                    [](LocalIndex i, std::vector<LocalIndex>& to) { spread(i, 9, columns, to); });
  this->check_all(a, {64, 68});
}

TYPED_TEST(SpmmPathsTest, RunsOfLongRows) {
  Sparse<typename TestFixture::T> a(this->random_, 700, 4000,
                                    [](LocalIndex i, auto& to) { spread(i / 4, 700 + i / 4 % 300, 4000, to); });
  this->check_all(a);
}

/// Dense blocks: bundles of up to sixteen rows, whose columns come several at a time, and one that is not full at
/// the end of each block of rows; empty rows among them.
TYPED_TEST(SpmmPathsTest, DenseBlocksOfLongRows) {
  Sparse<typename TestFixture::T> a(this->random_, 900, 4000, [](LocalIndex i, std::vector<LocalIndex>& to) {
    if (i % 31 != 30) spread(i / 31, 131 + i / 31 % 6, 4000, to);
  });
  for (LocalIndex i = 0; i < a.rows(); ++i) a.map.push_back(i + i / 100);
  this->check_all(a, {1, 2, 7, 8, 16, 24, 32, 40, 64, 130});
}

TYPED_TEST(SpmmPathsTest, FewerRowsThanMultiprocessors) {
  Sparse<typename TestFixture::T> a(this->random_, 6, 120000,
                                    [](LocalIndex i, auto& to) { spread(i / 5, 100000, 120000, to); });
  this->check_all(a);
}

TYPED_TEST(SpmmPathsTest, LongRowsThatDiffer) {
  Sparse<typename TestFixture::T> a(this->random_, 30000, 9000, [](LocalIndex i, auto& to) {
    if (i < 400)
      spread(i, 800 + i, 9000, to);
    else if (i == 29000)
      spread(i, 9000, 9000, to);
  });
  this->check_all(a);
}

TYPED_TEST(SpmmPathsTest, ManyShortRowsAndOneThatCrossesManyBlocks) {
  Sparse<typename TestFixture::T> a(this->random_, 80000, 60000, [](LocalIndex i, auto& to) {
    if (i == 40001)
      spread(i, 60000, 60000, to);
    else
      spread(i, 1 + i % 13, 60000, to);
  });
  this->check_all(a);
}

/// One sum of many like terms would round the same way again and again.
TYPED_TEST(SpmmPathsTest, LikeTermsOfALongRowDoNotAddUpTheirRounding) {
  using Number = typename TestFixture::T;
  if (!this->device_->host_addressable()) GTEST_SKIP() << "about the host, where one thread sums a row";
  constexpr LocalIndex columns = 100000;
  Sparse<Number> a(this->random_, 1, columns, [](LocalIndex, auto& to) { spread(0, columns, columns, to); });
  std::fill(a.values.begin(), a.values.end(), Number(0.1));
  HostBlock<Number> ones(columns, 3, 3);
  for (LocalIndex i = 0; i < columns; ++i)
    for (LocalIndex j = 0; j < 3; ++j) ones(i, j) = Number(1);
  const Buffer<Number> values = upload(this->device_, a.values);
  const Buffer<Offset> offsets = upload(this->device_, a.offsets);
  const Buffer<LocalIndex> indices = upload(this->device_, a.indices);
  const CsrView<Number> there{1, columns, columns, offsets.data(), indices.data(), values.data(), nullptr};
  const DeviceBlock<Number> b = this->on_device(ones);
  DeviceBlock<Number> c = this->on_device(HostBlock<Number>(1, 3, 3));
  const auto plan = this->kernels_->analyse(there, {SpmmAlgorithm::automatic});
  this->kernels_->spmm(*plan, there, b.view(), c.view(), Accumulate::no, {});
  const double exact = static_cast<double>(Number(0.1)) * columns;
  const double error = std::abs(static_cast<double>(c.download()(0, 2)) - exact);
  EXPECT_LE(error, 500.0 * std::numeric_limits<Number>::epsilon() * exact);
}

/// Neighbours have most of their columns in common, but not all, and rows at both ends have fewer.
void band(LocalIndex i, LocalIndex width, LocalIndex columns, std::vector<LocalIndex>& to) {
  for (LocalIndex j = std::max<LocalIndex>(i - width, 0); j <= std::min(i + width, columns - 1); ++j)
    to.push_back(j);
}

TYPED_TEST(SpmmPathsTest, DenseBands) {
  Sparse<typename TestFixture::T> a(this->random_, 20003, 20001,
                                    [](LocalIndex i, auto& to) { band(i, 14, 20001, to); });
  this->check_all(a);
}

TYPED_TEST(SpmmPathsTest, DenseBandsAmongEmptyRowsAndWithColumnsLeftOut) {
  Sparse<typename TestFixture::T> a(this->random_, 16001, 16001, [](LocalIndex i, auto& to) {
    if (i % 9 == 4) return;
    band(i, 25, 16001, to);
    if (i % 3 == 1) to.erase(to.end() - 5);
  });
  for (LocalIndex i = 0; i < a.rows(); ++i) a.map.push_back(i + i / 500);
  this->check_all(a);
}

TYPED_TEST(SpmmPathsTest, DenseBandsWhoseColumnsDoNotAscend) {
  Sparse<typename TestFixture::T> a(this->random_, 20000, 20000, [](LocalIndex i, auto& to) {
    band(i, 14, 20000, to);
    if (i == 7001) std::swap(to[to.size() - 3], to[to.size() - 2]);
  });
  this->check_all(a);
}

}  // namespace
}  // namespace block_eigs::test
