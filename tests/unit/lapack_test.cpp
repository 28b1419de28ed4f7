// What LAPACK is called with, and what is said where it cannot help.
#include "solver/small/lapack.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace block_eigs
