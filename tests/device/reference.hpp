#pragma once

#include <cmath>
#include <vector>

#include "spmm/small_matrix.hpp"
#include "tests/device/device_test.hpp"

// Naive references in double, written apart from every backend. Each result comes with the sum of the
// magnitudes of its terms, which is what rounding errors are proportional to.
namespace block_eigs::test {

struct Sum {
  double value = 0.0;
  double magnitude = 0.0;

  void add(double term) {
    value += term;
    magnitude += std::abs(term);
  }
};

/// Several blocks side by side, in double.
class WideBlock {
 public:
  template <class T>
  explicit WideBlock(const std::vector<HostBlock<T>>& blocks) : rows_(blocks.front().rows()) {
    for (const HostBlock<T>& block : blocks) {
      for (LocalIndex j = 0; j < block.cols(); ++j) {
        std::vector<double>& column = columns_.emplace_back();
        for (LocalIndex i = 0; i < rows_; ++i) column.push_back(static_cast<double>(block(i, j)));
      }
    }
  }

  LocalIndex rows() const { return rows_; }
  LocalIndex cols() const { return static_cast<LocalIndex>(columns_.size()); }
  double operator()(LocalIndex i, LocalIndex j) const {
    return columns_[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)];
  }

 private:
  LocalIndex rows_;
  std::vector<std::vector<double>> columns_;
};

/// (left^T right)(k, j)
inline Sum gram_element(const WideBlock& left, const WideBlock& right, LocalIndex k, LocalIndex j) {
  Sum sum;
  for (LocalIndex i = 0; i < left.rows(); ++i) sum.add(left(i, k) * right(i, j));
  return sum;
}

/// (in coefficients)(i, j)
inline Sum product_element(const WideBlock& in, const SmallMatrix& coefficients, LocalIndex i, LocalIndex j) {
  Sum sum;
  for (LocalIndex k = 0; k < in.cols(); ++k) sum.add(in(i, k) * coefficients(k, j));
  return sum;
}

/// |got - expected| <= factor * roundoff * magnitude
template <class T>
void expect_close(double got, const Sum& expected, double factor, LocalIndex i, LocalIndex j) {
  EXPECT_LE(std::abs(got - expected.value), factor * roundoff<T> * expected.magnitude)
      << "at (" << i << ", " << j << "): got " << got << ", expected " << expected.value;
}

/// Elements beside the columns [first, first + count) are what they were.
template <class T>
void expect_rest_untouched(const HostBlock<T>& before, const HostBlock<T>& after, LocalIndex first,
                           LocalIndex count) {
  for (LocalIndex i = 0; i < before.rows(); ++i) {
    for (LocalIndex j = 0; j < before.stride(); ++j) {
      if (j >= first && j < first + count) continue;
      ASSERT_EQ(before(i, j), after(i, j)) << "element beside the view changed at (" << i << ", " << j << ")";
    }
  }
}

inline SmallMatrix random_coefficients(Random& random, LocalIndex rows, LocalIndex cols) {
  SmallMatrix matrix(rows, cols);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (double& value : matrix.values()) value = uniform(random);
  return matrix;
}

}  // namespace block_eigs::test
