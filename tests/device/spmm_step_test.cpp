#include "tests/device/test_matrix.hpp"

namespace block_eigs::test {
namespace {

constexpr SpmmAlgorithm algorithms[] = {SpmmAlgorithm::automatic, SpmmAlgorithm::row_split, SpmmAlgorithm::merge};

/// C = D (p A B + q R) + s B + t C for all choices of which factors are zero; blocks with a zero factor hold NaN.
template <class Param>
class SpmmStepTest : public DeviceTest<Param> {
 protected:
  using Scalar = typename Param::Scalar;

  void check(TestMatrix<Scalar>& a, LocalIndex cols, SpmmAlgorithm algorithm, LocalIndex padding,
             LocalIndex result_rows) {
    a.upload_to(this->device_, *this->kernels_, algorithm);
    const bool square = a.columns() == result_rows;
    for (int present = 0; present < 32; ++present) {
      if (present > 16 && present % 5 != 1) continue;
      SCOPED_TRACE(std::string(name_of(algorithm)) + ", " + std::to_string(cols) + " columns, step " +
                   std::to_string(present));
      if (!square && (present / 2 % 2 == 1 || present / 16 == 1)) continue;
      check_step(a, present, {result_rows, cols, padding});
    }
  }

 private:
  struct Shape {
    LocalIndex rows, cols, padding;
  };

  HostBlock<Scalar> block(const Shape& shape, LocalIndex more_padding, bool present) {
    HostBlock<Scalar> result =
        random_block<Scalar>(this->random_, shape.rows, shape.cols, shape.cols + shape.padding + more_padding);
    if (present) return result;
    for (LocalIndex i = 0; i < shape.rows; ++i) {
      for (LocalIndex j = 0; j < shape.cols; ++j) result(i, j) = std::numeric_limits<Scalar>::quiet_NaN();
    }
    return result;
  }

  void check_step(TestMatrix<Scalar>& a, int present, const Shape& shape) {
    const HostBlock<Scalar> b =
        random_block<Scalar>(this->random_, a.columns(), shape.cols, shape.cols + shape.padding);
    const HostBlock<Scalar> r = block(shape, 2, present % 2 == 1);
    const HostBlock<Scalar> before = block(shape, 4, present / 4 % 2 == 1);
    const std::vector<Scalar> d = random_block<Scalar>(this->random_, shape.rows, 1, 1).values();
    const Buffer<Scalar> d_there = upload(this->device_, d);
    const DeviceBlock<Scalar> b_there = this->on_device(b), r_there = this->on_device(r);
    DeviceBlock<Scalar> c_there = this->on_device(before);
    ProductStep<Scalar> step;
    step.alpha = -0.625;
    step.right_hand_side = present % 2 == 1 ? 0.75 : 0.0;
    step.beta = present / 2 % 2 == 1 ? 1.375 : 0.0;
    step.gamma = present / 4 % 2 == 1 ? -0.875 : 0.0;
    step.scale = present / 8 % 2 == 1 ? d_there.data() : nullptr;
    std::vector<double> betas;
    for (LocalIndex j = 0; present / 16 == 1 && j < shape.cols; ++j) betas.push_back(0.25 * (j % 7) - 0.625);
    step.betas = betas;
    step.r = r_there.view();
    this->kernels_->spmm(a.plan(), a.there(), b_there.view(), c_there.view(), step, {});
    const HostBlock<Scalar> after = c_there.download();
    std::vector<bool> mapped(static_cast<std::size_t>(shape.rows), false);
    for (LocalIndex i = 0; i < a.rows(); ++i) {
      const LocalIndex row = a.result_row(i);
      mapped[static_cast<std::size_t>(row)] = true;
      const double scale = step.scale != nullptr ? static_cast<double>(d[static_cast<std::size_t>(row)]) : 1.0;
      for (LocalIndex j = 0; j < shape.cols; ++j) {
        const Sum product = a.product(b, i, j, 0.0);
        Sum expected{scale * step.alpha * product.value, std::abs(scale * step.alpha) * product.magnitude};
        if (step.right_hand_side != 0.0)
          expected.add(scale * step.right_hand_side * static_cast<double>(r(row, j)));
        if (step.beta != 0.0) expected.add(step.beta * static_cast<double>(b(row, j)));
        if (!betas.empty()) expected.add(betas[static_cast<std::size_t>(j)] * static_cast<double>(b(row, j)));
        if (step.gamma != 0.0) expected.add(step.gamma * static_cast<double>(before(row, j)));
        expect_close<Scalar>(static_cast<double>(after(row, j)), expected,
                             static_cast<double>(a.row_nonzeros(i)) + 8.0, row, j);
      }
    }
    for (LocalIndex row = 0; row < shape.rows; ++row) {
      if (mapped[static_cast<std::size_t>(row)] || step.gamma == 0.0) continue;
      for (LocalIndex j = 0; j < shape.cols; ++j) ASSERT_EQ(after(row, j), before(row, j));
    }
    expect_rest_untouched(before, after, 0, shape.cols);
  }
};

TYPED_TEST_SUITE(SpmmStepTest, EveryBackend, BackendName);

TYPED_TEST(SpmmStepTest, ShortRowsAndEmptyOnes) {
  using T = typename TypeParam::Scalar;
  TestMatrix<T> a(this->random_, 300, 300, [](LocalIndex i) { return i % 6; });
  for (const SpmmAlgorithm algorithm : algorithms) {
    for (const LocalIndex cols : {1, 2, 5, 16, 20, 33, 64, 130}) this->check(a, cols, algorithm, cols % 3, 300);
  }
}

TYPED_TEST(SpmmStepTest, LongRows) {
  using T = typename TypeParam::Scalar;
  TestMatrix<T> a(this->random_, 900, 900, [](LocalIndex i) { return i == 400 ? 900 : i % 7 == 0 ? 150 : 40; });
  for (const SpmmAlgorithm algorithm : algorithms) {
    for (const LocalIndex cols : {3, 8, 20}) this->check(a, cols, algorithm, 0, 900);
  }
}

TYPED_TEST(SpmmStepTest, OneDenseRow) {
  using T = typename TypeParam::Scalar;
  TestMatrix<T> a(this->random_, 5000, 5000, [](LocalIndex i) { return i == 4321 ? 5000 : i % 50 == 7 ? 3 : 0; });
  for (const SpmmAlgorithm algorithm : algorithms) this->check(a, 6, algorithm, 0, 5000);
}

// The host asks for rows of B ahead where caches do not hold B and columns are random.
TYPED_TEST(SpmmStepTest, RandomColumnsOfABlockBeyondTheCaches) {
  using T = typename TypeParam::Scalar;
  TestMatrix<T> a(this->random_, 14'000, 14'000, [](LocalIndex i) {
    return i == 4321 ? 700 : i % 50 == 7 ? 5 : 0;
  });
  for (const SpmmAlgorithm algorithm : algorithms) this->check(a, 10, algorithm, 1, 14'000);
}

TYPED_TEST(SpmmStepTest, RowMapLeavesOtherRows) {
  using T = typename TypeParam::Scalar;
  TestMatrix<T> a(this->random_, 200, 120, [](LocalIndex i) { return i == 100 ? 120 : i % 5; });
  std::vector<LocalIndex> map(200);
  for (std::size_t i = 0; i < map.size(); ++i) map[i] = static_cast<LocalIndex>(3 * i + i % 2);
  a.set_row_map(map);
  for (const SpmmAlgorithm algorithm : algorithms) {
    for (const LocalIndex cols : {7, 16}) this->check(a, cols, algorithm, 1, 700);
  }
}

}  // namespace
}  // namespace block_eigs::test
