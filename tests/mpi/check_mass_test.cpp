// Mass matrices that are not positive definite are refused before anything is solved; those that are, are not,
// however badly scaled or conditioned.
#include "apps/input/check_mass.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "solver/small/lapack.hpp"
#include "spmm/error.hpp"
#include "tests/support/random_problem.hpp"

namespace block_eigs {
namespace {

using Entry = std::function<double(GlobalIndex, GlobalIndex)>;

class CheckMass : public ::testing::Test {
 protected:
  static constexpr GlobalIndex n = 1500;

  /// Of the matrix with these entries on the `band` diagonals on each side.
  CsrRows rows(GlobalIndex band, const Entry& entry) const {
    CsrRows result;
    result.row_begin = partition_.begin(comm_.rank());
    result.global_rows = result.global_columns = n;
    for (GlobalIndex i = result.row_begin; i < partition_.end(comm_.rank()); ++i) {
      for (GlobalIndex j = std::max<GlobalIndex>(0, i - band); j <= std::min(n - 1, i + band); ++j) {
        if (entry(i, j) == 0.0) continue;
        result.columns.push_back(j);
        result.values.push_back(entry(i, j));
      }
      result.row_offsets.push_back(static_cast<Offset>(result.columns.size()));
    }
    return result;
  }

  /// What the rank that refuses the matrix says; "elsewhere" on the others, empty where all let it pass.
  template <class T>
  std::string refusal_of(const CsrRows& rows) const {
    const auto context = make_context<T>(comm_, Backend::host);
    try {
      check_mass_entries(comm_, partition_, rows, "b.npz");
      DistributedMatrix<T> matrix(context, rows, partition_, partition_);
      check_mass_spectrum(context, matrix, "b.npz");
    } catch (const InputError& error) {
      return error.what();
    } catch (const RemoteError& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::invalid_input);
      return "elsewhere";
    }
    return "";
  }

  void expect_refused(const CsrRows& rows, const std::string& words) const {
    for (const std::string& message : {refusal_of<double>(rows), refusal_of<float>(rows)}) {
      EXPECT_NE(message, "");
      EXPECT_TRUE(comm_.any(message != "elsewhere"));
      if (message == "elsewhere") continue;
      EXPECT_NE(message.find("not positive definite"), std::string::npos) << message;
      EXPECT_NE(message.find(words), std::string::npos) << message;
    }
  }

  const Communicator comm_{MPI_COMM_WORLD};
  const Partition partition_ = Partition::uniform(n, comm_.size());
};

/// Consistent mass of cubic spline-like coupling: symbol 1 + 2 sum c_k cos(k t), definite.
double definite(GlobalIndex i, GlobalIndex j) {
  constexpr double of_distance[] = {2416.0, 1191.0, 120.0, 1.0};
  return of_distance[std::abs(i - j)] / 5040.0;
}

/// Positive diagonal, every 2 x 2 part definite, row sums positive; symbol 1 + 1.2 cos t < 0 near t = pi.
double indefinite(GlobalIndex i, GlobalIndex j) { return i == j ? 1.0 : 0.6; }

TEST_F(CheckMass, DefiniteMatricesPass) {
  EXPECT_EQ(refusal_of<double>(rows(3, definite)), "");
  EXPECT_EQ(refusal_of<float>(rows(3, definite)), "");
  const auto scale = [](GlobalIndex i) { return std::pow(10.0, -8.0 + 16.0 * static_cast<double>(i) / n); };
  EXPECT_EQ(refusal_of<double>(rows(3, [&](auto i, auto j) { return scale(i) * definite(i, j) * scale(j); })), "");
  // Condition 1e12 before any scaling: T T^T of a bidiagonal T with large and small entries.
  const auto t = [](GlobalIndex i) { return std::pow(10.0, 3.0 * std::sin(static_cast<double>(i))); };
  EXPECT_EQ(refusal_of<double>(rows(1,
                                    [&](auto i, auto j) {
                                      if (i != j) return t(std::min(i, j)) * t(std::min(i, j)) * 0.999;
                                      return t(i) * t(i) + (i > 0 ? t(i - 1) * t(i - 1) : 0.0);
                                    })),
            "");
}

TEST_F(CheckMass, ANegativeOrMissingDiagonalEntryIsNamed) {
  expect_refused(rows(3, [](auto i, auto j) { return i == 777 && j == 777 ? -1.0 : definite(i, j); }), "row 777 ");
  expect_refused(rows(3, [](auto i, auto j) { return i == 777 && j == 777 ? 0.0 : definite(i, j); }), "row 777 ");
}

TEST_F(CheckMass, ARowPairIsNamed) {
  // Rows of different ranks, where there are several.
  const GlobalIndex last = partition_.end(0) - 1;
  const GlobalIndex other = last + 1 < n ? last + 1 : last - 1;
  const auto pair = [&](double value) {
    return rows(3, [=](GlobalIndex i, GlobalIndex j) {
      return i != j && (i == last || i == other) && (j == last || j == other) ? value : definite(i, j);
    });
  };
  const double diagonal = 2416.0 / 5040.0;
  const std::string words =
      "(" + std::to_string(std::min(last, other)) + ", " + std::to_string(std::max(last, other)) + ")";
  expect_refused(pair(diagonal), words);
  expect_refused(pair(-1.01 * diagonal), words);
}

TEST_F(CheckMass, AnIndefiniteSpectrumIsFound) {
  expect_refused(rows(1, indefinite), "x'Bx = -");
  const auto scale = [](GlobalIndex i) { return std::pow(10.0, -3.0 + 6.0 * static_cast<double>(i) / n); };
  expect_refused(rows(1, [&](auto i, auto j) { return scale(i) * indefinite(i, j) * scale(j); }), "x'Bx = -");
}

TEST_F(CheckMass, ALaplacianIsSingular) {
  expect_refused(rows(1,
                      [](GlobalIndex i, GlobalIndex j) {
                        if (i != j) return -1.0;
                        return i == 0 || i == n - 1 ? 1.0 : 2.0;
                      }),
                 "singular");
}

bool is_refused(const Communicator& comm, const CsrRows& rows) {
  try {
    check_small_mass(comm, rows, "b.npz");
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::invalid_input);
    return true;
  }
  return false;
}

/// P a P, P = I - v v^T / v^T v, symmetric to the last bit.
void project_out(SmallMatrix& a, const SmallMatrix& v) {
  const int n = a.cols();
  SmallMatrix image = lapack::product(a, false, v, false);
  double squared = 0.0;
  double quadratic = 0.0;
  for (int i = 0; i < n; ++i) squared += v(i, 0) * v(i, 0), quadratic += v(i, 0) * image(i, 0);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i <= j; ++i) {
      a(i, j) +=
          (quadratic * v(i, 0) * v(j, 0) / squared - v(i, 0) * image(j, 0) - image(i, 0) * v(j, 0)) / squared;
      a(j, i) = a(i, j);
    }
  }
}

/// Of few rows the whole spectrum is looked at: here all entries are harmless pair by pair, and the smallest
/// eigenvalue is 0 (the Laplacian of a cycle, plus nothing) or 1e-9.
TEST(CheckSmallMass, SingularIsRefusedAndBadlyConditionedIsNot) {
  const Communicator comm(MPI_COMM_WORLD);
  constexpr GlobalIndex order = 300;
  const Partition partition = Partition::uniform(order, comm.size());
  for (const double shift : {0.0, 1e-9}) {
    CsrRows rows;
    rows.row_begin = partition.begin(comm.rank());
    rows.global_rows = rows.global_columns = order;
    for (GlobalIndex i = rows.row_begin; i < partition.end(comm.rank()); ++i) {
      for (GlobalIndex j = 0; j < order; ++j) {
        const bool beside = (i + 1) % order == j || (j + 1) % order == i;
        // Signs of alternate rows turned, so that the null vector is not that of ones.
        const double sign = (i + j) % 2 == 0 ? 1.0 : -1.0;
        if (i != j && !beside) continue;
        rows.columns.push_back(j);
        rows.values.push_back(i == j ? 2.0 + shift : -sign);
      }
      rows.row_offsets.push_back(static_cast<Offset>(rows.columns.size()));
    }
    EXPECT_EQ(is_refused(comm, rows), shift == 0.0);
  }
}

/// P S P, S of condition 1e10 with eigenvalues of all sizes: pivots are far larger than the eigenvalue zero.
TEST(CheckSmallMass, SingularIsToldFromEigenvaluesOfAllSizes) {
  const Communicator comm(MPI_COMM_WORLD);
  constexpr int order = 244;
  const Partition partition = Partition::uniform(order, comm.size());
  test::Random random(3);
  for (int round = 0; round < 60; ++round) {
    SmallMatrix b = test::random_spd(random, order, 1e10);
    const bool singular = round % 2 == 0;
    if (singular) project_out(b, test::random_matrix(random, order, 1));
    CsrRows rows;
    rows.row_begin = partition.begin(comm.rank());
    rows.global_rows = rows.global_columns = order;
    for (GlobalIndex i = rows.row_begin; i < partition.end(comm.rank()); ++i) {
      for (int j = 0; j < order; ++j) {
        rows.columns.push_back(j);
        rows.values.push_back(b(static_cast<int>(i), j));
      }
      rows.row_offsets.push_back(static_cast<Offset>(rows.columns.size()));
    }
    EXPECT_EQ(is_refused(comm, rows), singular) << round;
  }
}

}  // namespace
}  // namespace block_eigs
