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

/// Column j of several blocks side by side, at row i.
template <class T>
double element(const std::vector<HostBlock<T>>& blocks, LocalIndex i, LocalIndex j) {
  for (const HostBlock<T>& block : blocks) {
    if (j < block.cols()) return static_cast<double>(block(i, j));
    j -= block.cols();
  }
  ADD_FAILURE() << "column out of range";
  return 0.0;
}

template <class T>
LocalIndex total_cols(const std::vector<HostBlock<T>>& blocks) {
  LocalIndex cols = 0;
  for (const HostBlock<T>& block : blocks) cols += block.cols();
  return cols;
}

/// (left^T right)(k, j)
template <class T>
Sum gram_element(const std::vector<HostBlock<T>>& left, const std::vector<HostBlock<T>>& right, LocalIndex k,
                 LocalIndex j) {
  Sum sum;
  for (LocalIndex i = 0; i < left.front().rows(); ++i) sum.add(element(left, i, k) * element(right, i, j));
  return sum;
}

/// (blocks coefficients)(i, j)
template <class T>
Sum product_element(const std::vector<HostBlock<T>>& blocks, const SmallMatrix& coefficients, LocalIndex i,
                    LocalIndex j) {
  Sum sum;
  for (LocalIndex k = 0; k < total_cols(blocks); ++k) sum.add(element(blocks, i, k) * coefficients(k, j));
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
