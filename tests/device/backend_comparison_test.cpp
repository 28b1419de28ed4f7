#include "tests/device/tall_block_test.hpp"
#include "tests/device/test_matrix.hpp"

// At sizes that the naive references are too slow for, the GPU is compared with the host backend, which they
// check.
namespace block_eigs::test {
namespace {

template <class T>
struct There {
  std::shared_ptr<Device> device;
  std::shared_ptr<Kernels<T>> kernels;
};

template <class T>
class AgainstHost : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda::device_count() == 0) {
      GTEST_SKIP() << "this machine has no GPU, or this build no CUDA backend: nothing was compared";
    }
    for (const Backend backend : {Backend::host, Backend::cuda}) {
      const auto device = make_device(backend, 0);
      backends_.push_back({device, make_kernels<T>(device)});
    }
  }

  void expect_equal(const HostBlock<T>& host, const HostBlock<T>& cuda, double tolerance) {
    double worst = 0.0;
    double largest = 0.0;
    for (LocalIndex i = 0; i < host.rows(); ++i) {
      for (LocalIndex j = 0; j < host.cols(); ++j) {
        const auto expected = static_cast<double>(host(i, j));
        const double difference = std::abs(static_cast<double>(cuda(i, j)) - expected);
        // Written so that NaN counts as the worst.
        if (!(difference <= worst)) worst = difference;
        largest = std::max(largest, std::abs(expected));
      }
    }
    EXPECT_LE(worst, tolerance * roundoff<T> * largest);
  }

  std::vector<There<T>> backends_;
  Random random_{99};
};

struct ScalarName {
  template <class T>
  static std::string GetName(int) {
    return sizeof(T) == 8 ? "cuda_double" : "cuda_float";
  }
};
using Scalars = ::testing::Types<double, float>;
TYPED_TEST_SUITE(AgainstHost, Scalars, ScalarName);

TYPED_TEST(AgainstHost, Spmm) {
  using T = TypeParam;
  const LocalIndex n = 120'000;
  TestMatrix<T> a(this->random_, n, n, [&](LocalIndex i) { return i == 4321 ? n / 2 : i % 23; });
  for (const LocalIndex cols : {1, 4, 16, 20, 33, 64}) {
    const auto b = random_block<T>(this->random_, n, cols, cols);
    for (const SpmmAlgorithm algorithm : {SpmmAlgorithm::row_split, SpmmAlgorithm::merge}) {
      std::vector<HostBlock<T>> results;
      for (There<T>& there : this->backends_) {
        a.upload_to(there.device, *there.kernels, algorithm);
        const DeviceBlock<T> x(there.device, b);
        DeviceBlock<T> y(there.device, HostBlock<T>(n, cols, cols));
        there.kernels->spmm(a.plan(), a.there(), x.view(), y.view(), Accumulate::no, {});
        results.push_back(y.download());
      }
      // Two orders of summation: the difference grows with the root of the number of terms, n / 2 in the long row.
      this->expect_equal(results[0], results[1], 4.0 * std::sqrt(n / 2.0));
    }
  }
}

TYPED_TEST(AgainstHost, BlockAlgebra) {
  using T = TypeParam;
  const LocalIndex n = 300'001;
  for (const LocalIndex b : {4, 16, 20, 32, 64}) {
    const SmallMatrix coefficients = random_coefficients(this->random_, 3 * b, 2 * b);
    const std::vector<double> lambda(static_cast<std::size_t>(b), 0.5);
    std::vector<SmallMatrix> grams(2);
    std::vector<HostBlock<T>> results;
    std::vector<double> norms[2];
    for (std::size_t i = 0; i < 2; ++i) {
      Random same(5);
      There<T>& there = this->backends_[i];
      BlockSet<T> z(there.device, same, n, {b, b, b}, b % 4);
      there.kernels->gram(z.inputs(), {ConstBlockView<T>(z.view(2))}, grams[i]);
      norms[i].resize(lambda.size());
      const DeviceBlock<T> bx(there.device, random_block<T>(same, n, b, b));
      there.kernels->update_residual(z.inputs(), coefficients, {z.view(0), z.view(1)}, bx.view(), lambda,
                                     z.view(2), norms[i]);
      for (std::size_t block = 0; block < 3; ++block) results.push_back(z.download(block));
    }
    for (std::size_t block = 0; block < 3; ++block) this->expect_equal(results[block], results[block + 3], 300.0);
    for (std::size_t k = 0; k < grams[0].values().size(); ++k) {
      EXPECT_NEAR(grams[0].values()[k], grams[1].values()[k], 64.0 * roundoff<T> * n);
    }
    for (std::size_t j = 0; j < lambda.size(); ++j) {
      EXPECT_NEAR(norms[0][j], norms[1][j], 300.0 * roundoff<T> * norms[0][j]);
    }
  }
}

TYPED_TEST(AgainstHost, RepeatedRelaxation) {
  using T = TypeParam;
  const LocalIndex n = 200'000;
  const auto r = random_block<T>(this->random_, n, 16, 16);
  const std::vector<T> d = random_block<T>(this->random_, n, 1, 1).values();
  std::vector<HostBlock<T>> results;
  for (There<T>& there : this->backends_) {
    const DeviceBlock<T> residual(there.device, r);
    const Buffer<T> diagonal = upload(there.device, d);
    DeviceBlock<T> z(there.device, HostBlock<T>(n, 16, 16));
    ProductStep<T> step;
    step.alpha = -0.7;
    step.right_hand_side = 0.7;
    step.gamma = 0.5;
    step.scale = diagonal.data();
    step.r = residual.view();
    for (int k = 0; k < 10; ++k) there.kernels->combine(step, z.view(), {}, z.view());
    results.push_back(z.download());
  }
  this->expect_equal(results[0], results[1], 300.0);
}

}  // namespace
}  // namespace block_eigs::test
