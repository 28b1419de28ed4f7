#include "tests/device/tall_block_test.hpp"

namespace block_eigs::test {
namespace {

template <class Param>
class ResidualTest : public DeviceTest<Param> {
 protected:
  using Scalar = typename Param::Scalar;

  std::vector<double> random_lambda(LocalIndex count) {
    std::vector<double> lambda(static_cast<std::size_t>(count));
    std::uniform_real_distribution<double> uniform(-3.0, 3.0);
    for (double& value : lambda) value = uniform(this->random_);
    return lambda;
  }

  /// r = ax - bx diag(lambda) where ax(i, j) is known with `factor` roundoffs, and the norms of the r that is
  /// there.
  void compare(const HostBlock<Scalar>& r, const std::vector<std::vector<Sum>>& ax, const HostBlock<Scalar>& bx,
               const std::vector<double>& lambda, const std::vector<double>& norms, double factor) {
    ASSERT_EQ(norms.size(), static_cast<std::size_t>(r.cols()));
    for (LocalIndex j = 0; j < r.cols(); ++j) {
      const auto column = static_cast<std::size_t>(j);
      Sum norm;
      for (LocalIndex i = 0; i < r.rows(); ++i) {
        Sum expected = ax[static_cast<std::size_t>(i)][column];
        expected.add(-lambda[column] * static_cast<double>(bx(i, j)));
        expect_close<Scalar>(static_cast<double>(r(i, j)), expected, factor, i, j);
        norm.add(static_cast<double>(r(i, j)) * static_cast<double>(r(i, j)));
      }
      expect_close<Scalar>(norms[column], norm, sum_factor<Scalar>, -1, j);
    }
  }

  static std::vector<std::vector<Sum>> exact(const HostBlock<Scalar>& ax) {
    std::vector<std::vector<Sum>> sums(static_cast<std::size_t>(ax.rows()));
    for (LocalIndex i = 0; i < ax.rows(); ++i) {
      for (LocalIndex j = 0; j < ax.cols(); ++j) {
        sums[static_cast<std::size_t>(i)].emplace_back().add(static_cast<double>(ax(i, j)));
      }
    }
    return sums;
  }

  static std::vector<std::vector<Sum>> product(const WideBlock& in, const SmallMatrix& coefficients,
                                               LocalIndex cols) {
    std::vector<std::vector<Sum>> sums(static_cast<std::size_t>(in.rows()));
    for (LocalIndex i = 0; i < in.rows(); ++i) {
      for (LocalIndex j = 0; j < cols; ++j) {
        sums[static_cast<std::size_t>(i)].push_back(product_element(in, coefficients, i, j));
      }
    }
    return sums;
  }

  void check_residual(LocalIndex rows, LocalIndex cols, LocalIndex padding) {
    SCOPED_TRACE(::testing::Message() << rows << " x " << cols << ", padding " << padding);
    const auto ax = random_block<Scalar>(this->random_, rows, cols, cols + padding);
    const auto bx = random_block<Scalar>(this->random_, rows, cols, cols);
    const auto before = random_block<Scalar>(this->random_, rows, cols, cols + 2 * padding);
    const std::vector<double> lambda = random_lambda(cols);
    std::vector<double> norms(lambda.size(), -1.0);
    const DeviceBlock<Scalar> ax_there = this->on_device(ax);
    const DeviceBlock<Scalar> bx_there = this->on_device(bx);
    DeviceBlock<Scalar> r_there = this->on_device(before);
    this->kernels_->residual(ax_there.view(), bx_there.view(), lambda, r_there.view(), norms);
    const HostBlock<Scalar> r = r_there.download();
    compare(r, exact(ax), bx, lambda, norms, 4.0);
    expect_rest_untouched(before, r, 0, cols);
  }

  /// The first `outputs` blocks are replaced, those after them are read alone; r has r_cols columns.
  void check_fused(LocalIndex rows, const std::vector<LocalIndex>& cols, std::size_t outputs, LocalIndex r_cols,
                   LocalIndex padding) {
    SCOPED_TRACE(::testing::Message() << rows << " rows, blocks " << ::testing::PrintToString(cols) << ", "
                                      << outputs << " outputs, " << r_cols << " residual columns");
    BlockSet<Scalar> blocks(this->device_, this->random_, rows, cols, padding);
    const WideBlock in(blocks.here());
    LocalIndex out_cols = 0;
    for (std::size_t i = 0; i < outputs; ++i) out_cols += cols[i];
    const SmallMatrix coefficients = random_coefficients(this->random_, in.cols(), out_cols);
    const auto bx = random_block<Scalar>(this->random_, rows, r_cols, r_cols + padding);
    const DeviceBlock<Scalar> bx_there = this->on_device(bx);
    const auto before = random_block<Scalar>(this->random_, rows, r_cols, r_cols + 1);
    DeviceBlock<Scalar> r_there = this->on_device(before);
    const std::vector<double> lambda = random_lambda(r_cols);
    std::vector<double> norms(lambda.size(), -1.0);
    this->kernels_->update_residual(blocks.inputs(), coefficients, blocks.outputs(outputs), bx_there.view(),
                                    lambda, r_there.view(), norms);
    const HostBlock<Scalar> r = r_there.download();
    const double factor = static_cast<double>(in.cols()) + 6.0;
    compare(r, product(in, coefficients, r_cols), bx, lambda, norms, factor);
    expect_rest_untouched(before, r, 0, r_cols);
    LocalIndex column = 0;
    for (std::size_t block = 0; block < outputs; ++block) {
      const HostBlock<Scalar> got = blocks.download(block);
      for (LocalIndex i = 0; i < rows; ++i) {
        for (LocalIndex j = 0; j < got.cols(); ++j) {
          expect_close<Scalar>(static_cast<double>(got(i, j)), product_element(in, coefficients, i, column + j),
                               factor, i, j);
        }
      }
      expect_rest_untouched(blocks.here()[block], got, 0, got.cols());
      column += got.cols();
    }
  }
};

TYPED_TEST_SUITE(ResidualTest, EveryBackend, BackendName);

TYPED_TEST(ResidualTest, EveryWidth) {
  for (LocalIndex cols = 1; cols <= 256; cols += cols < 34 ? 1 : 37) this->check_residual(97, cols, cols % 3);
}

TYPED_TEST(ResidualTest, FewAndManyRows) {
  for (const LocalIndex rows : {0, 1, 5, 127, 1000, 30001}) this->check_residual(rows, 6, 2);
}

// More than a thread block of the GPU adds up at once.
TYPED_TEST(ResidualTest, HundredsOfPairs) {
  this->check_residual(70, 1025, 0);
  this->check_residual(41, 3001, 1);
  this->check_fused(9, {1100, 200}, 1, 1050, 1);
}

TYPED_TEST(ResidualTest, InPlace) {
  using T = typename TypeParam::Scalar;
  const auto ax = random_block<T>(this->random_, 700, 10, 12);
  const auto bx = random_block<T>(this->random_, 700, 10, 10);
  const std::vector<double> lambda = this->random_lambda(10);
  std::vector<double> norms(10);
  DeviceBlock<T> ax_there = this->on_device(ax);
  const DeviceBlock<T> bx_there = this->on_device(bx);
  this->kernels_->residual(ax_there.view(), bx_there.view(), lambda, ax_there.view(), norms);
  this->compare(ax_there.download(), this->exact(ax), bx, lambda, norms, 4.0);
}

TYPED_TEST(ResidualTest, FusedWithUpdate) {
  for (const LocalIndex cols : {1, 4, 7, 16, 20, 33, 64}) {
    this->check_fused(301, {cols, cols, cols}, 2, cols, cols % 4);
    this->check_fused(302, {cols, 2, cols}, 2, (cols + 1) / 2, 0);
  }
  this->check_fused(777, {20, 20}, 1, 20, 4);
  this->check_fused(100, {9, 8, 7, 6}, 3, 9, 0);
  for (const LocalIndex rows : {0, 1, 63, 64, 65, 4003}) this->check_fused(rows, {6, 6, 6}, 2, 6, 2);
}

TYPED_TEST(ResidualTest, RandomFusedShapes) {
  Random& random = this->random_;
  for (int trial = 0; trial < 40; ++trial) {
    std::vector<LocalIndex> cols(static_cast<std::size_t>(pick(random, 1, 4)));
    for (LocalIndex& count : cols) count = pick(random, 1, pick(random, 1, 40));
    const auto outputs = static_cast<std::size_t>(pick(random, 1, static_cast<LocalIndex>(cols.size())));
    this->check_fused(pick(random, 0, 300), cols, outputs, pick(random, 1, cols[0]), pick(random, 0, 5));
  }
}

}  // namespace
}  // namespace block_eigs::test
