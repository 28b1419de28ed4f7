// Symmetry and finiteness of distributed matrices, real and made up.
#include "io/source/check_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "io/formats/matrix_file.hpp"
#include "io/source/csr_scatter.hpp"
#include "io/source/symmetry.hpp"
#include "tests/support/matrix_files.hpp"

namespace block_eigs {
namespace {

/// Own rows of a random symmetric matrix with values over many orders of magnitude, `change` having seen its
/// triplets.
CsrRows symmetric_rows(const Communicator& comm, const Partition& partition,
                       const std::function<void(std::vector<Triplet>&)>& change = {}) {
  const GlobalIndex n = partition.rows();
  std::vector<Triplet> triplets;
  if (comm.is_root()) {
    std::mt19937_64 random(5);
    std::uniform_int_distribution<GlobalIndex> index(0, n - 1);
    std::uniform_real_distribution<double> exponent(-3.0, 3.0);
    for (GlobalIndex k = 0; k < 6 * n; ++k) {
      const GlobalIndex i = index(random);
      const GlobalIndex j = index(random);
      const double value = std::pow(10.0, exponent(random)) - 1.0;
      triplets.push_back({i, j, value});
      if (i != j) triplets.push_back({j, i, value});
    }
    for (GlobalIndex i = 0; i < n; ++i) triplets.push_back({i, i, 1e10});  // must hide nothing
    // Duplicates are summed in an order of their own on either side of the diagonal.
    std::sort(triplets.begin(), triplets.end(), [](const Triplet& a, const Triplet& b) {
      return std::tie(a.row, a.column, a.value) < std::tie(b.row, b.column, b.value);
    });
    if (change) change(triplets);
  }
  return scatter_to_owners(comm, partition, n, std::move(triplets));
}

class CheckMatrix : public ::testing::Test {
 protected:
  std::string failure(const CsrRows& rows) {
    return test::refusal(comm_, [&] { check_symmetric(comm_, partition_, rows, "matrix"); });
  }

  const Communicator comm_{MPI_COMM_WORLD};
  const Partition partition_ = Partition::uniform(20011, comm_.size());
};

TEST_F(CheckMatrix, SymmetricPasses) {
  check_symmetric(comm_, partition_, symmetric_rows(comm_, partition_), "matrix");
  EXPECT_LE(asymmetry(comm_, partition_, symmetric_rows(comm_, partition_)), 1e-14);
}

TEST_F(CheckMatrix, OnePairIsFoundAndNamed) {
  for (const double change : {1e-6, 1.0, -1e4}) {
    const CsrRows rows = symmetric_rows(comm_, partition_, [&](auto& triplets) {
      triplets.push_back({17000, 23, change});
    });
    const std::string message = failure(rows);
    test::expect_said(message, "(17000, 23)");
    test::expect_said(message, "(23, 17000)");
  }
}

TEST_F(CheckMatrix, RoundingPasses) {
  const CsrRows rows = symmetric_rows(comm_, partition_, [](auto& triplets) {
    for (Triplet& t : triplets)
      t.value *= t.row < t.column ? 1.0 + 4 * std::numeric_limits<double>::epsilon() : 1.0;
  });
  check_symmetric(comm_, partition_, rows, "matrix");
  EXPECT_GT(asymmetry(comm_, partition_, rows), 0.0);
}

TEST_F(CheckMatrix, OneTriangleIsSaid) {
  for (const bool lower : {true, false}) {
    const CsrRows rows = symmetric_rows(comm_, partition_, [&](auto& triplets) {
      std::erase_if(triplets, [&](const Triplet& t) { return lower ? t.row < t.column : t.row > t.column; });
    });
    const std::string message = failure(rows);
    test::expect_said(message, lower ? "only its lower triangle" : "only its upper triangle");
  }
}

TEST_F(CheckMatrix, SkewSymmetricIsNotSymmetric) {
  const CsrRows rows = symmetric_rows(comm_, partition_, [](auto& triplets) {
    for (Triplet& t : triplets) t.value *= t.row < t.column ? -1.0 : 1.0;
  });
  const std::string message = failure(rows);
  test::expect_said(message, "not symmetric");
}

// Far below everything else in its own row, but all that the other row has: found whoever owns the two.
TEST_F(CheckMatrix, OneSidedEntriesAreFoundFromBothSides) {
  const auto alone = [](auto& triplets) {
    std::erase_if(triplets, [](const Triplet& t) { return (t.row == 23 || t.column == 23) && t.row != t.column; });
  };
  for (const bool above : {true, false}) {
    const CsrRows rows = symmetric_rows(comm_, partition_, [&](auto& triplets) {
      alone(triplets);
      triplets.push_back({above ? 17 : 23, above ? 23 : 17, 1e-16});
    });
    test::expect_said(failure(rows), "not symmetric");
  }
}

TEST_F(CheckMatrix, InFloatMoreIsRounding) {
  const CsrRows rows = symmetric_rows(comm_, partition_, [](auto& triplets) {
    triplets.push_back({17, 23, 1.0});
    triplets.push_back({23, 17, 1.0 + 0x1p-23});
  });
  test::expect_said(failure(rows), "not symmetric");
  check_symmetric(comm_, partition_, rows, "matrix", symmetry_tolerance_in_float);
}

TEST_F(CheckMatrix, ZerosMayBeStoredOnOneSide) {
  check_symmetric(comm_, partition_,
                  symmetric_rows(comm_, partition_,
                                 [](auto& triplets) {
                                   triplets.push_back({5, 19000, 0.0});
                                 }),
                  "matrix");
}

TEST_F(CheckMatrix, NotFiniteIsNamed) {
  for (const double bad : {std::nan(""), -std::nan(""), std::numeric_limits<double>::infinity()}) {
    const CsrRows rows = symmetric_rows(comm_, partition_, [&](auto& triplets) {
      triplets.push_back({15000, 15000, bad});
    });
    const std::string message = test::refusal(comm_, [&] { check_finite(comm_, rows, "matrix"); });
    test::expect_said(message, std::string("matrix: the value at row 15000, column 15000 (counted from 0) is ") +
                                   (std::isnan(bad) ? "nan" : "inf"));
  }
}

TEST_F(CheckMatrix, RealMatrices) {
  const char* chosen = std::getenv("BLOCK_EIGS_MATRICES");
  const std::string folder = chosen != nullptr ? chosen : BLOCK_EIGS_DEFAULT_MATRICES;
  if (!std::filesystem::exists(folder + "/p2p-Gnutella31.mtx.gz"))
    GTEST_SKIP() << "no real matrices in " << folder;
  for (const char* name : {"bcsstk17", "Trefethen_2000", "ani4", "c-62"}) {
    SCOPED_TRACE(name);
    const auto source = open_matrix_file(comm_, folder + "/" + name + ".mtx.gz");
    check_square(comm_, *source);
    const Partition partition = Partition::uniform(source->rows(), comm_.size());
    check_symmetric(comm_, partition, source->read(partition), name);
  }
  const auto source = open_matrix_file(comm_, folder + "/p2p-Gnutella31.mtx.gz");
  const Partition partition = Partition::uniform(source->rows(), comm_.size());
  const CsrRows rows = source->read(partition);
  const std::string message =
      test::refusal(comm_, [&] { check_symmetric(comm_, partition, rows, "p2p-Gnutella31"); });
  test::expect_said(message, "p2p-Gnutella31: is not symmetric");
}

TEST_F(CheckMatrix, NotSquareIsSaid) {
  if (test::matrix_files_folder().empty()) GTEST_SKIP() << test::no_matrix_files;
  const auto source = open_matrix_file(comm_, test::matrix_files_folder() + "/general.mtx");
  const std::string message = test::refusal(comm_, [&] { check_square(comm_, *source); });
  test::expect_said(message, "has 120 rows and 90 columns");
}

}  // namespace
}  // namespace block_eigs
