#include <limits>

#include "tests/device/tall_block_test.hpp"
#include "tests/device/test_matrix.hpp"

namespace block_eigs::test {
namespace {

/// Products that are summed in the pass that makes one of their factors: of an update, and of a sparse product.
template <class Param>
class FusedGramTest : public DeviceTest<Param> {
 protected:
  using Scalar = typename Param::Scalar;

  /// Q <- [Q others] coefficients, Z = D Q and Q^T [Z Q], or Q^T Q where there is no D.
  void check_update(LocalIndex rows, const std::vector<LocalIndex>& cols, LocalIndex out_cols, LocalIndex padding,
                    bool scaled) {
    SCOPED_TRACE(::testing::Message() << rows << " rows, blocks " << ::testing::PrintToString(cols) << ", "
                                      << out_cols << " columns remain, scaled " << scaled);
    BlockSet<Scalar> blocks(this->device_, this->random_, rows, cols, padding);
    const SmallMatrix coefficients = random_coefficients(this->random_, WideBlock(blocks.here()).cols(), out_cols);
    const HostBlock<Scalar> before = random_block<Scalar>(this->random_, rows, out_cols, out_cols + padding);
    DeviceBlock<Scalar> z_there = this->on_device(before);
    const std::vector<Scalar> d = random_block<Scalar>(this->random_, rows, 1, 1).values();
    const Buffer<Scalar> d_there = upload(this->device_, d);
    const BlockView<Scalar> q_there = blocks.view(0).columns(0, out_cols);
    RowScaling<Scalar> scaling;
    if (scaled) scaling = {d_there.data(), q_there, z_there.view()};
    SmallMatrix products;
    if (scaled) {
      this->kernels_->update_gram(blocks.inputs(), coefficients, {q_there}, scaling, {q_there},
                                  {z_there.view(), q_there}, products);
    } else {
      this->kernels_->update_gram(blocks.inputs(), coefficients, {q_there}, scaling, {q_there}, {q_there},
                                  products);
    }
    const HostBlock<Scalar> q = blocks.download(0);
    const HostBlock<Scalar> z = z_there.download();
    const WideBlock in(blocks.here());
    for (LocalIndex i = 0; i < rows; ++i) {
      for (LocalIndex j = 0; j < out_cols; ++j) {
        expect_close<Scalar>(static_cast<double>(q(i, j)), product_element(in, coefficients, i, j),
                             static_cast<double>(in.cols()) + 2.0, i, j);
        ASSERT_EQ(z(i, j), scaled ? d[static_cast<std::size_t>(i)] * q(i, j) : before(i, j)) << i << ' ' << j;
      }
    }
    expect_rest_untouched(blocks.here()[0], q, 0, out_cols);
    expect_rest_untouched(before, z, 0, out_cols);
    ASSERT_EQ(products.rows(), out_cols);
    ASSERT_EQ(products.cols(), scaled ? 2 * out_cols : out_cols);
    for (LocalIndex j = 0; j < products.cols(); ++j) {
      const HostBlock<Scalar>& right = scaled && j < out_cols ? z : q;
      for (LocalIndex k = 0; k < out_cols; ++k) {
        expect_close<Scalar>(products(k, j), dot(q, k, right, j % out_cols), sum_factor<Scalar>, k, j);
      }
    }
  }

  /// Y = D (p A X + q R) + s X + t Y for a symmetric A, and L^T (Y - t Y as it was) for L = X.
  void check_product(TestMatrix<Scalar>& a, LocalIndex cols, const ProductStep<Scalar>& step, LocalIndex padding) {
    SCOPED_TRACE(::testing::Message() << a.rows() << " rows, " << cols << " columns, gamma " << step.gamma);
    if (!this->kernels_->sums_products()) GTEST_SKIP() << "products are left to gram on this backend";
    const HostBlock<Scalar> x = random_block<Scalar>(this->random_, a.columns(), cols, cols + padding);
    const LocalIndex rows = a.rows() == 0 ? 0 : a.result_row(a.rows() - 1) + 1;
    const HostBlock<Scalar> before = random_block<Scalar>(this->random_, rows, cols, cols + 2 * padding);
    const HostBlock<Scalar> left = random_block<Scalar>(this->random_, rows, cols, cols);
    const DeviceBlock<Scalar> x_there = this->on_device(x), left_there = this->on_device(left);
    DeviceBlock<Scalar> y_there = this->on_device(before);
    SmallMatrix products(cols, cols);
    for (double& value : products.values()) value = 0.5;
    ProductStep<Scalar> with = step;
    with.products = &products;
    with.left = left_there.view();
    this->kernels_->spmm(a.plan(), a.there(), x_there.view(), y_there.view(), with, {});
    DeviceBlock<Scalar> alone_there = this->on_device(before);
    this->kernels_->spmm(a.plan(), a.there(), x_there.view(), alone_there.view(), step, {});
    const HostBlock<Scalar> y = y_there.download();
    ASSERT_EQ(y.values(), alone_there.download().values());
    // Exact where symmetric: the upper half is compared, and that the lower one is its copy.
    for (LocalIndex j = 0; j < cols; ++j) {
      for (LocalIndex k = 0; k <= j; ++k) {
        Sum expected;
        for (LocalIndex i = 0; i < a.rows(); ++i) {
          const LocalIndex row = a.result_row(i);
          const double old = step.gamma * static_cast<double>(before(row, j));
          const double factor = static_cast<double>(left(row, k));
          expected.value += factor * (static_cast<double>(y(row, j)) - old);
          expected.magnitude += std::abs(factor) * (std::abs(static_cast<double>(y(row, j))) + std::abs(old));
        }
        expected.add(0.5);
        expect_close<Scalar>(products(k, j), expected, sum_factor<Scalar>, k, j);
        ASSERT_EQ(products(k, j), products(j, k));
      }
    }
  }

 private:
  static Sum dot(const HostBlock<Scalar>& x, LocalIndex k, const HostBlock<Scalar>& y, LocalIndex j) {
    Sum result;
    long double exact = 0.0L;  // a sum of 30,000 squares in double is worse than what it is to judge
    for (LocalIndex i = 0; i < x.rows(); ++i) {
      const double term = static_cast<double>(x(i, k)) * static_cast<double>(y(i, j));
      exact += static_cast<long double>(term);
      result.add(term);
    }
    result.value = static_cast<double>(exact);
    return result;
  }
};

TYPED_TEST_SUITE(FusedGramTest, EveryBackend, BackendName);

TYPED_TEST(FusedGramTest, UpdatesOfEveryWidth) {
  for (const bool scaled : {false, true}) {
    for (LocalIndex cols = 1; cols <= 68; cols += cols < 20 ? 1 : 12) {
      this->check_update(205, {cols, cols}, cols, cols % 3, scaled);
      this->check_update(97, {cols}, (cols + 1) / 2, 1, scaled);
    }
  }
}

TYPED_TEST(FusedGramTest, UpdatesOfFewAndManyRows) {
  for (const LocalIndex rows : {0, 1, 5, 96, 97, 1000, 30001}) this->check_update(rows, {6, 9}, 5, 2, true);
}

TYPED_TEST(FusedGramTest, ProductsOfShortRowsAndEmptyOnes) {
  using T = typename TypeParam::Scalar;
  TestMatrix<T> a(this->random_, 1300, 1300, [](LocalIndex i) { return i % 6; });
  for (const SpmmAlgorithm algorithm : {SpmmAlgorithm::row_split, SpmmAlgorithm::merge}) {
    a.upload_to(this->device_, *this->kernels_, algorithm);
    for (const LocalIndex cols : {1, 2, 3, 5, 8, 16, 20, 33, 70}) this->check_product(a, cols, {}, cols % 3);
  }
}

// Cut rows are finished by several threads.
TYPED_TEST(FusedGramTest, ProductsOfLongRows) {
  using T = typename TypeParam::Scalar;
  TestMatrix<T> a(this->random_, 5000, 5000, [](LocalIndex i) { return i == 4321 ? 5000 : i % 50 == 7 ? 3 : 0; });
  for (const SpmmAlgorithm algorithm : {SpmmAlgorithm::row_split, SpmmAlgorithm::merge}) {
    a.upload_to(this->device_, *this->kernels_, algorithm);
    for (const LocalIndex cols : {1, 6, 16}) this->check_product(a, cols, {}, 1);
  }
}

TYPED_TEST(FusedGramTest, ProductsThatAreAdded) {
  using T = typename TypeParam::Scalar;
  ProductStep<T> step;
  step.gamma = 1.0;
  TestMatrix<T> a(this->random_, 300, 120, [](LocalIndex i) { return i == 100 ? 120 : i % 5; });
  a.upload_to(this->device_, *this->kernels_, SpmmAlgorithm::automatic);
  for (const LocalIndex cols : {1, 7, 16, 40}) this->check_product(a, cols, step, 1);
  std::vector<LocalIndex> map(300);
  for (std::size_t i = 0; i < map.size(); ++i) map[i] = static_cast<LocalIndex>(3 * i + i % 2);
  a.set_row_map(map);
  a.upload_to(this->device_, *this->kernels_, SpmmAlgorithm::automatic);
  for (const LocalIndex cols : {1, 7, 16, 40}) this->check_product(a, cols, step, 1);
  for (const LocalIndex cols : {2, 16}) this->check_product(a, cols, {}, 0);
}

TYPED_TEST(FusedGramTest, ProductsOfNoRows) {
  using T = typename TypeParam::Scalar;
  TestMatrix<T> a(this->random_, 0, 10, [](LocalIndex) { return 0; });
  a.upload_to(this->device_, *this->kernels_, SpmmAlgorithm::automatic);
  this->check_product(a, 4, {}, 0);
}

}  // namespace
}  // namespace block_eigs::test
