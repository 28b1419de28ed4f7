#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include "tests/device/reference.hpp"

namespace block_eigs::test {
namespace {

struct Shape {
  LocalIndex rows, cols, padding;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> list = [] {
    std::vector<Shape> result = {{0, 4, 0},     {1, 1, 0},     {1, 256, 3},  {20011, 3, 1}, {4097, 16, 0},
                                 {513, 100, 4}, {40, 1030, 1}, {9, 2500, 1}, {3, 7001, 0}};
    Random random(7);
    for (int trial = 0; trial < 25; ++trial) {
      result.push_back({pick(random, 0, 400), pick(random, 1, pick(random, 1, 80)), pick(random, 0, 5)});
    }
    return result;
  }();
  return list;
}

template <class Param>
class ElementwiseTest : public DeviceTest<Param> {
 protected:
  using Scalar = typename Param::Scalar;

  HostBlock<Scalar> random(const Shape& shape, LocalIndex more_padding = 0) {
    return random_block<Scalar>(this->random_, shape.rows, shape.cols, shape.cols + shape.padding + more_padding);
  }

  std::vector<Scalar> random_diagonal(LocalIndex rows) {
    return random_block<Scalar>(this->random_, rows, 1, 1).values();
  }

  static double at(const HostBlock<Scalar>& block, LocalIndex i, LocalIndex j) {
    return static_cast<double>(block(i, j));
  }

  /// got(i, j) is expected(i, j) to `factor` roundoffs; beside the view nothing changed.
  template <class Expected>
  static void compare(const HostBlock<Scalar>& before, const HostBlock<Scalar>& got, double factor,
                      Expected expected) {
    for (LocalIndex i = 0; i < got.rows(); ++i) {
      for (LocalIndex j = 0; j < got.cols(); ++j)
        expect_close<Scalar>(at(got, i, j), expected(i, j), factor, i, j);
    }
    expect_rest_untouched(before, got, 0, got.cols());
  }
};

Sum terms(std::initializer_list<double> values) {
  Sum sum;
  for (const double value : values) sum.add(value);
  return sum;
}

TYPED_TEST_SUITE(ElementwiseTest, EveryBackend, BackendName);

TYPED_TEST(ElementwiseTest, ColumnDots) {
  using T = typename TypeParam::Scalar;
  for (const Shape& shape : shapes()) {
    const auto x = this->random(shape);
    const auto y = this->random(shape, 1);
    const DeviceBlock<T> x_there = this->on_device(x);
    const DeviceBlock<T> y_there = this->on_device(y);
    std::vector<double> dots(static_cast<std::size_t>(shape.cols), -1.0);
    this->kernels_->column_dots(x_there.view(), y_there.view(), dots);
    for (LocalIndex j = 0; j < shape.cols; ++j) {
      Sum expected;
      for (LocalIndex i = 0; i < shape.rows; ++i) expected.add(this->at(x, i, j) * this->at(y, i, j));
      expect_close<T>(dots[static_cast<std::size_t>(j)], expected, 64.0, -1, j);
    }
  }
}

TYPED_TEST(ElementwiseTest, ScaleRows) {
  using T = typename TypeParam::Scalar;
  for (const Shape& shape : shapes()) {
    const auto x = this->random(shape);
    const auto y = this->random(shape, 2);
    const std::vector<T> d = this->random_diagonal(shape.rows);
    const Buffer<T> d_there = upload(this->device_, d);
    DeviceBlock<T> x_there = this->on_device(x);
    DeviceBlock<T> y_there = this->on_device(y);
    const auto expected = [&](LocalIndex i, LocalIndex j) {
      return terms({static_cast<double>(d[static_cast<std::size_t>(i)]) * this->at(x, i, j)});
    };
    this->kernels_->scale_rows(d_there.data(), std::as_const(x_there).view(), y_there.view());
    this->compare(y, y_there.download(), 1.0, expected);
    this->kernels_->scale_rows(d_there.data(), x_there.view(), x_there.view());
    this->compare(x, x_there.download(), 1.0, expected);
  }
}

TYPED_TEST(ElementwiseTest, Axpby) {
  using T = typename TypeParam::Scalar;
  for (const Shape& shape : shapes()) {
    for (const auto& [alpha, beta] : {std::pair{0.75, -0.5}, {1.0, 1.0}, {-2.0, 0.0}, {0.0, 0.25}}) {
      const auto x = this->random(shape);
      auto y = this->random(shape, 1);
      const DeviceBlock<T> x_there = this->on_device(x);
      DeviceBlock<T> y_there = this->on_device(y);
      this->kernels_->axpby(alpha, x_there.view(), beta, y_there.view());
      this->compare(y, y_there.download(), 3.0, [&, a = alpha, b = beta](LocalIndex i, LocalIndex j) {
        return terms({a * this->at(x, i, j), b * this->at(y, i, j)});
      });
    }
  }
}

TYPED_TEST(ElementwiseTest, AxpbyWithBetaZeroOverwritesNaN) {
  using T = typename TypeParam::Scalar;
  const auto x = this->random({100, 9, 0});
  HostBlock<T> y(100, 9, 9);
  std::fill(y.values().begin(), y.values().end(), std::numeric_limits<T>::quiet_NaN());
  const DeviceBlock<T> x_there = this->on_device(x);
  DeviceBlock<T> y_there = this->on_device(y);
  this->kernels_->axpby(0.5, x_there.view(), 0.0, y_there.view());
  this->compare(y, y_there.download(), 1.0,
                [&](LocalIndex i, LocalIndex j) { return terms({0.5 * this->at(x, i, j)}); });
}

/// Every block whose factor is zero holds NaN.
TYPED_TEST(ElementwiseTest, Combine) {
  using T = typename TypeParam::Scalar;
  const std::array wide_and_narrow{Shape{67, 9, 2}, Shape{31, 1, 0}, Shape{40, 32, 3}, Shape{40, 33, 0},
                                   Shape{25, 70, 1}};
  for (std::size_t n = 0; n < 64 * wide_and_narrow.size(); ++n) {
    const auto present = static_cast<int>(n % 64);
    const Shape& shape = wide_and_narrow[n / 64];
    HostBlock<T> poison(shape.rows, shape.cols, shape.cols);
    std::fill(poison.values().begin(), poison.values().end(), std::numeric_limits<T>::quiet_NaN());
    const auto block = [&](int which) {
      return (present >> which) % 2 == 1 ? this->random(shape, which) : poison;
    };
    const auto ax = block(0), r = block(1), x = block(2), y = block(3);
    const std::vector<T> d = this->random_diagonal(shape.rows);
    const Buffer<T> d_there = upload(this->device_, d);
    const DeviceBlock<T> ax_there = this->on_device(ax), r_there = this->on_device(r),
                         x_there = this->on_device(x);
    DeviceBlock<T> y_there = this->on_device(y);
    ProductStep<T> step;
    step.alpha = present % 2 == 1 ? 0.625 : 0.0;
    step.right_hand_side = present / 2 % 2 == 1 ? -0.75 : 0.0;
    step.beta = present / 4 % 2 == 1 ? 1.375 : 0.0;
    step.gamma = present / 8 % 2 == 1 ? 0.875 : 0.0;
    step.scale = present / 16 % 2 == 1 ? d_there.data() : nullptr;
    std::vector<double> betas;
    for (LocalIndex j = 0; present / 32 == 1 && present / 4 % 2 == 1 && j < shape.cols; ++j)
      betas.push_back(0.25 * (j % 7) - 0.625);
    step.betas = betas;
    step.r = r_there.view();
    this->kernels_->combine(step, ax_there.view(), x_there.view(), y_there.view());
    this->compare(y, y_there.download(), 8.0, [&](LocalIndex i, LocalIndex j) {
      const double scale = step.scale != nullptr ? static_cast<double>(d[static_cast<std::size_t>(i)]) : 1.0;
      Sum sum;
      if (step.alpha != 0.0) sum.add(scale * step.alpha * this->at(ax, i, j));
      if (step.right_hand_side != 0.0) sum.add(scale * step.right_hand_side * this->at(r, i, j));
      if (step.beta != 0.0) sum.add(step.beta * this->at(x, i, j));
      if (!betas.empty()) sum.add(betas[static_cast<std::size_t>(j)] * this->at(x, i, j));
      if (step.gamma != 0.0) sum.add(step.gamma * this->at(y, i, j));
      return sum;
    });
  }
}

TYPED_TEST(ElementwiseTest, CopyAndFill) {
  using T = typename TypeParam::Scalar;
  for (const Shape& shape : shapes()) {
    const auto x = this->random(shape);
    const auto y = this->random(shape, 1);
    const DeviceBlock<T> x_there = this->on_device(x);
    DeviceBlock<T> y_there = this->on_device(y);
    this->kernels_->copy(x_there.view(), y_there.view());
    const auto copied = y_there.download();
    this->kernels_->fill(y_there.view(), -0.375);
    const auto filled = y_there.download();
    for (LocalIndex i = 0; i < shape.rows; ++i) {
      for (LocalIndex j = 0; j < shape.cols; ++j) {
        ASSERT_EQ(copied(i, j), x(i, j));
        ASSERT_EQ(filled(i, j), T(-0.375));
      }
    }
    expect_rest_untouched(y, copied, 0, shape.cols);
    expect_rest_untouched(y, filled, 0, shape.cols);
  }
}

/// A block of the given leading dimension, column-major, there and back; between columns nothing changes.
TYPED_TEST(ElementwiseTest, Columns) {
  using T = typename TypeParam::Scalar;
  for (const Shape& shape : shapes()) {
    const LocalIndex leading = shape.rows + shape.padding;
    // Row j of this block is column j.
    const auto columns = random_block<T>(this->random_, shape.cols, shape.rows, leading);
    const auto y = this->random(shape, 1);
    const DeviceBlock<T> columns_there = this->on_device(columns);
    DeviceBlock<T> y_there = this->on_device(y);
    this->kernels_->from_columns(columns_there.view().data, leading, y_there.view());
    const auto rows = y_there.download();
    const auto other = random_block<T>(this->random_, shape.cols, shape.rows, leading);
    DeviceBlock<T> other_there = this->on_device(other);
    this->kernels_->to_columns(std::as_const(y_there).view(), other_there.view().data, leading);
    const auto back = other_there.download();
    for (LocalIndex i = 0; i < shape.rows; ++i) {
      for (LocalIndex j = 0; j < shape.cols; ++j) {
        ASSERT_EQ(rows(i, j), columns(j, i));
        ASSERT_EQ(back(j, i), columns(j, i));
      }
    }
    expect_rest_untouched(y, rows, 0, shape.cols);
    expect_rest_untouched(other, back, 0, shape.rows);
  }
}

template <class T, class U>
void check_convert(Kernels<T>& kernels, const std::shared_ptr<Device>& device, Random& random, bool scaled) {
  for (const Shape& shape : shapes()) {
    const auto x = random_block<T>(random, shape.rows, shape.cols, shape.cols + shape.padding);
    const auto before = random_block<U>(random, shape.rows, shape.cols, shape.cols + 1);
    std::vector<double> scales;
    for (LocalIndex j = 0; scaled && j < shape.cols; ++j) scales.push_back(std::ldexp(1.0, j % 7 - 3));
    const DeviceBlock<T> x_there(device, x);
    DeviceBlock<U> y_there(device, before);
    kernels.convert(x_there.view(), scales, y_there.view());
    const HostBlock<U> y = y_there.download();
    for (LocalIndex i = 0; i < shape.rows; ++i) {
      for (LocalIndex j = 0; j < shape.cols; ++j) {
        const double scale = scaled ? scales[static_cast<std::size_t>(j)] : 1.0;
        ASSERT_EQ(y(i, j), static_cast<U>(scale * static_cast<double>(x(i, j))));
      }
    }
    expect_rest_untouched(before, y, 0, shape.cols);
  }
}

TYPED_TEST(ElementwiseTest, Convert) {
  using T = typename TypeParam::Scalar;
  for (const bool scaled : {false, true}) {
    check_convert<T, float>(*this->kernels_, this->device_, this->random_, scaled);
    check_convert<T, double>(*this->kernels_, this->device_, this->random_, scaled);
  }
}

}  // namespace
}  // namespace block_eigs::test
