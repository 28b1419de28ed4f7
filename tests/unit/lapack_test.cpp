// What LAPACK is called with, and what is said where it cannot help.
#include "solver/small/lapack.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include <limits>
#include <string>

#include "spmm/error.hpp"

namespace block_eigs {
namespace {

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const NumericalError& error) {
    return error.what();
  }
  return "no error";
}

/// LAPACK's answer is a number of its own, or none at all.
TEST(Lapack, ValuesThatAreNotFiniteAreCalledThat) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (const int n : {1, 6, 90}) {
      SmallMatrix a = SmallMatrix::identity(n);
      a(n - 1, 0) = bad;
      SmallMatrix b;
      SmallMatrix vectors;
      SmallMatrix copy = a;
      for (const std::string& message : {message_of([&] { lapack::symmetric_eigen(copy); }),
                                         message_of([&] { lapack::lowest_eigenpairs(a, b, 1, vectors); })}) {
        EXPECT_NE(message.find("not finite"), std::string::npos) << message;
        EXPECT_EQ(message.find("info"), std::string::npos) << message;
      }
    }
  }
}

TEST(Lapack, ASingularMassMatrixIsCalledThat) {
  SmallMatrix a = SmallMatrix::identity(2);
  SmallMatrix b(2, 2);
  for (double& value : b.values()) value = 1.0;
  SmallMatrix vectors;
  EXPECT_THROW(lapack::lowest_eigenpairs(a, b, 1, vectors), InputError);
}

TEST(Lapack, EigenvaluesOfASecondDifference) {
  constexpr int n = 12;
  const std::vector<double> diagonal(n, 2.0), beside(n, -1.0);  // one more beside than counts
  const std::vector<double> values = lapack::tridiagonal_eigenvalues(diagonal, beside);
  ASSERT_EQ(values.size(), static_cast<std::size_t>(n));
  for (int j = 0; j < n; ++j) {
    const double exact = 2.0 - 2.0 * std::cos(M_PI * (j + 1) / (n + 1));
    EXPECT_NEAR(values[static_cast<std::size_t>(j)], exact, 1e-14);
  }
}

}  // namespace
}  // namespace block_eigs
