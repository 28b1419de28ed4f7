#include <atomic>
#include <numeric>
#include <thread>

#include "spmm/host/runtime/threads.hpp"
#include "tests/device/test_matrix.hpp"

namespace block_eigs::test {
namespace {

constexpr SpmmAlgorithm algorithms[] = {SpmmAlgorithm::automatic, SpmmAlgorithm::row_split, SpmmAlgorithm::merge};

template <class Param>
class SpmmTest : public DeviceTest<Param> {
 protected:
  using Scalar = typename Param::Scalar;

  /// C = A B or C += A B with B and C strided, against the reference.
  void check(TestMatrix<Scalar>& a, LocalIndex cols, LocalIndex result_rows, SpmmAlgorithm algorithm,
             Accumulate accumulate, LocalIndex padding = 0) {
    SCOPED_TRACE(std::string(name_of(algorithm)) + ", " + std::to_string(a.rows()) + " x " +
                 std::to_string(a.columns()) + ", " + std::to_string(a.nonzeros()) + " nonzeros, " +
                 std::to_string(cols) + " columns, padding " + std::to_string(padding));
    a.upload_to(this->device_, *this->kernels_, algorithm);
    if (cols % 4 == 1) a.plan().reserve(cols + 3);  // or not: the products are the same
    const auto b = random_block<Scalar>(this->random_, a.columns(), cols, cols + padding);
    auto before = random_block<Scalar>(this->random_, result_rows, cols, cols + 2 * padding);
    if (accumulate == Accumulate::no) poison_result_rows(a, before);
    const DeviceBlock<Scalar> b_there = this->on_device(b);
    DeviceBlock<Scalar> c_there = this->on_device(before);
    this->kernels_->spmm(a.plan(), a.there(), b_there.view(), c_there.view(), accumulate, {});
    compare(a, b, before, c_there.download(), accumulate);
  }

 private:
  /// What is overwritten may have been anything.
  static void poison_result_rows(const TestMatrix<Scalar>& a, HostBlock<Scalar>& c) {
    for (LocalIndex i = 0; i < a.rows(); ++i) {
      for (LocalIndex j = 0; j < c.cols(); ++j) c(a.result_row(i), j) = std::numeric_limits<Scalar>::quiet_NaN();
    }
  }

  static void compare(const TestMatrix<Scalar>& a, const HostBlock<Scalar>& b, const HostBlock<Scalar>& before,
                      const HostBlock<Scalar>& after, Accumulate accumulate) {
    HostBlock<Scalar> elsewhere = after;
    for (LocalIndex i = 0; i < a.rows(); ++i) {
      const LocalIndex row = a.result_row(i);
      for (LocalIndex j = 0; j < b.cols(); ++j) {
        const double start = accumulate == Accumulate::yes ? static_cast<double>(before(row, j)) : 0.0;
        const Sum expected = a.product(b, i, j, start);
        // A sum of k products in any order: (k + 1) roundoffs of the magnitudes.
        expect_close<Scalar>(static_cast<double>(after(row, j)), expected,
                             static_cast<double>(a.row_nonzeros(i)) + 2.0, row, j);
        elsewhere(row, j) = before(row, j);
      }
    }
    for (LocalIndex i = 0; i < before.rows(); ++i) {
      for (LocalIndex j = 0; j < before.stride(); ++j) {
        const bool overwritten_nan = std::isnan(before(i, j)) && j < before.cols();
        if (overwritten_nan) continue;
        ASSERT_EQ(elsewhere(i, j), before(i, j)) << "changed beside the result, " << i << ", " << j;
      }
    }
  }
};

TYPED_TEST_SUITE(SpmmTest, EveryBackend, BackendName);

TYPED_TEST(SpmmTest, EveryColumnCount) {
  using T = typename TypeParam::Scalar;
  TestMatrix<T> a(this->random_, 61, 47, [](LocalIndex i) { return i % 13; });
  for (LocalIndex cols = 1; cols <= 256; cols += cols < 36 ? 1 : 11) {
    for (const SpmmAlgorithm algorithm : algorithms) {
      this->check(a, cols, a.rows(), algorithm, cols % 2 == 0 ? Accumulate::no : Accumulate::yes, cols % 3);
    }
  }
  for (const LocalIndex cols : {64, 128, 255, 256}) this->check(a, cols, 61, SpmmAlgorithm::merge, Accumulate::no);
}

TYPED_TEST(SpmmTest, DegenerateShapes) {
  using T = typename TypeParam::Scalar;
  struct Shape {
    LocalIndex rows, columns, row_length;
  };
  for (const Shape& shape : {Shape{0, 0, 0}, Shape{0, 5, 0}, Shape{7, 0, 0}, Shape{1, 1, 1}, Shape{1, 1, 0},
                             Shape{1, 5000, 5000}, Shape{5000, 1, 1}, Shape{900, 3, 0}, Shape{3, 900, 900}}) {
    TestMatrix<T> a(this->random_, shape.rows, shape.columns, [&](LocalIndex) { return shape.row_length; });
    for (const SpmmAlgorithm algorithm : algorithms) {
      for (const Accumulate accumulate : {Accumulate::no, Accumulate::yes}) {
        this->check(a, 6, shape.rows, algorithm, accumulate, 2);
        this->check(a, 1, shape.rows, algorithm, accumulate);
      }
    }
  }
}

TYPED_TEST(SpmmTest, OneDenseRowAmongEmptyOnes) {
  using T = typename TypeParam::Scalar;
  for (const LocalIndex dense : {0, 500, 1999}) {
    TestMatrix<T> a(this->random_, 2000, 7000, [&](LocalIndex i) {
      return i == dense ? 7000 : i % 100 == 7 ? 3 : 0;
    });
    for (const SpmmAlgorithm algorithm : algorithms) {
      this->check(a, 8, 2000, algorithm, Accumulate::no);
      this->check(a, 5, 2000, algorithm, Accumulate::yes, 3);
    }
  }
}

TYPED_TEST(SpmmTest, RowMapLeavesOtherRows) {
  using T = typename TypeParam::Scalar;
  TestMatrix<T> a(this->random_, 300, 200, [](LocalIndex i) { return i == 100 ? 200 : i % 5; });
  std::vector<LocalIndex> map(300);
  for (std::size_t i = 0; i < map.size(); ++i) map[i] = static_cast<LocalIndex>(3 * i + i % 2);
  a.set_row_map(map);
  for (const SpmmAlgorithm algorithm : algorithms) {
    this->check(a, 16, 1000, algorithm, Accumulate::yes);
    this->check(a, 7, 1000, algorithm, Accumulate::no, 1);
  }
}

TYPED_TEST(SpmmTest, RandomShapes) {
  using T = typename TypeParam::Scalar;
  for (int trial = 0; trial < 60; ++trial) {
    Random& random = this->random_;
    const LocalIndex rows = pick(random, 0, 400);
    const LocalIndex columns = pick(random, 1, 400);
    const LocalIndex longest = pick(random, 0, pick(random, 0, 400));
    const LocalIndex dense = pick(random, 0, 3) == 0 ? pick(random, 0, 400) : -1;
    TestMatrix<T> a(random, rows, columns,
                    [&](LocalIndex i) { return i == dense ? columns : pick(random, 0, longest); });
    const LocalIndex skipped = pick(random, 0, 2);
    if (skipped > 0) {
      std::vector<LocalIndex> map(static_cast<std::size_t>(rows));
      std::iota(map.begin(), map.end(), skipped);
      a.set_row_map(map);
    }
    this->check(a, pick(random, 1, 70), rows + skipped, algorithms[trial % 3],
                trial % 2 == 0 ? Accumulate::no : Accumulate::yes, pick(random, 0, 5));
  }
}

TYPED_TEST(SpmmTest, SameCallSameBits) {
  using T = typename TypeParam::Scalar;
  TestMatrix<T> a(this->random_, 3000, 3000, [](LocalIndex i) { return i == 17 ? 3000 : i % 9; });
  const auto b = random_block<T>(this->random_, 3000, 12, 12);
  const DeviceBlock<T> b_there = this->on_device(b);
  for (const SpmmAlgorithm algorithm : algorithms) {
    a.upload_to(this->device_, *this->kernels_, algorithm);
    std::vector<T> first;
    for (int repeat = 0; repeat < 5; ++repeat) {
      DeviceBlock<T> c = this->on_device(HostBlock<T>(3000, 12, 12));
      this->kernels_->spmm(a.plan(), a.there(), b_there.view(), c.view(), Accumulate::no, {});
      const std::vector<T> got = c.download().values();
      if (first.empty()) first = got;
      ASSERT_EQ(got, first);
    }
  }
}

TYPED_TEST(SpmmTest, HostMovesMessagesAlongFromTheCallingThread) {
  using T = typename TypeParam::Scalar;
  if (TypeParam::backend != Backend::host) GTEST_SKIP() << "only the host's kernels poll";
  const LocalIndex n = 30000 * std::max(host::threads(), 2);  // several shares a thread
  TestMatrix<T> a(this->random_, n, n, [](LocalIndex) { return 7; });
  const DeviceBlock<T> b = this->on_device(random_block<T>(this->random_, n, 16, 16));
  DeviceBlock<T> c = this->on_device(HostBlock<T>(n, 16, 16));
  for (const SpmmAlgorithm algorithm : algorithms) {
    a.upload_to(this->device_, *this->kernels_, algorithm);
    std::atomic<int> calls = 0;
    std::atomic<int> calls_elsewhere = 0;
    const auto here = std::this_thread::get_id();
    this->kernels_->spmm(a.plan(), a.there(), b.view(), c.view(), Accumulate::no, [&] {
      ++calls;
      if (std::this_thread::get_id() != here) ++calls_elsewhere;
    });
    EXPECT_GE(calls, 4);
    EXPECT_EQ(calls_elsewhere, 0);
  }
}

TYPED_TEST(SpmmTest, GathersRows) {
  using T = typename TypeParam::Scalar;
  for (const LocalIndex cols : {1, 2, 3, 8, 17, 64}) {
    for (const LocalIndex count : {0, 1, 333}) {
      const auto x = random_block<T>(this->random_, 200, cols, cols + cols % 4);
      std::vector<LocalIndex> rows(static_cast<std::size_t>(count));
      for (LocalIndex& row : rows) row = pick(this->random_, 0, 199);
      const DeviceBlock<T> x_there = this->on_device(x);
      const Buffer<LocalIndex> rows_there = upload(this->device_, rows);
      DeviceBlock<T> out = this->on_device(HostBlock<T>(count, cols, cols));
      this->device_->synchronize(Queue::compute);
      this->kernels_->gather_rows(x_there.view(), rows_there.data(), out.view(), Queue::transfer);
      this->device_->synchronize(Queue::transfer);
      const HostBlock<T> got = out.download();
      for (LocalIndex i = 0; i < count; ++i) {
        for (LocalIndex j = 0; j < cols; ++j) ASSERT_EQ(got(i, j), x(rows[static_cast<std::size_t>(i)], j));
      }
    }
  }
}

}  // namespace
}  // namespace block_eigs::test
