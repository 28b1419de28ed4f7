#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "io/generate/generate.hpp"
#include "io/source/csr_scatter.hpp"
#include "solver/lobpcg/dense_assembly.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "solver/small/lapack.hpp"
#include "spmm/error.hpp"
#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"

// The pencil (A, B) against LAPACK on the assembled matrices, by iteration and by the dense way.
namespace block_eigs {
namespace {

constexpr int n = 260;

double entry_a(int i, int j) {
  if (i == j) return 2.0 + 0.3 * (i % 7) + 0.01 * i;
  if (std::abs(i - j) == 1) return -1.0;
  return std::abs(i - j) == 13 ? 0.25 : 0.0;
}

double entry_b(int i, int j) {
  if (i == j) return 4.0 + (i % 3);
  return std::abs(i - j) == 1 ? 1.0 : 0.0;
}

template <class Entry>
CsrRows rows_of(const Communicator& comm, const Partition& partition, Entry entry) {
  std::vector<Triplet> triplets;
  for (GlobalIndex i = partition.begin(comm.rank()); i < partition.end(comm.rank()); ++i) {
    for (int j = 0; j < n; ++j) {
      if (const double value = entry(static_cast<int>(i), j); value != 0.0) triplets.push_back({i, j, value});
    }
  }
  return scatter_to_owners(comm, partition, n, std::move(triplets));
}

template <class Entry>
SmallMatrix dense_of(Entry entry) {
  SmallMatrix matrix(n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) matrix(i, j) = entry(i, j);
  }
  return matrix;
}

/// All eigenvalues of the pencil from LAPACK's Cholesky and dsyevd, a different way than the library's own.
std::vector<double> pencil_eigenvalues() {
  SmallMatrix a = dense_of(entry_a);
  SmallMatrix b = dense_of(entry_b);
  EXPECT_TRUE(lapack::cholesky(b));
  lapack::solve_lower(b, a);
  SmallMatrix transposed(n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) transposed(i, j) = a(j, i);
  }
  lapack::solve_lower(b, transposed);
  return lapack::symmetric_eigen(transposed);
}

struct Pencil {
  Pencil()
      : comm(MPI_COMM_WORLD),
        context(make_context<double>(comm, Backend::host)),
        partition(Partition::uniform(n, comm.size())),
        a(context, rows_of(comm, partition, entry_a), partition, partition),
        b(context, rows_of(comm, partition, entry_b), partition, partition),
        space(context, partition) {}

  Communicator comm;
  Context<double> context;
  Partition partition;
  DistributedMatrix<double> a;
  DistributedMatrix<double> b;
  BlockSpace<double> space;
};

double mass_orthogonality_error(Pencil& pencil, const DenseBlock<double>& v) {
  DenseBlock<double> bv = pencil.space.make_block(v.cols());
  pencil.b.apply(v.view(), bv.view());
  SmallMatrix gram;
  pencil.space.gram({v.view()}, {bv.view()}, gram);
  double error = 0.0;
  for (int j = 0; j < gram.cols(); ++j) {
    for (int i = 0; i < gram.rows(); ++i) error = std::max(error, std::abs(gram(i, j) - (i == j ? 1.0 : 0.0)));
  }
  return error;
}

class PencilEnds : public ::testing::TestWithParam<std::tuple<Which, int>> {};

TEST_P(PencilEnds, AgreeWithLapack) {
  const auto [which, pairs] = GetParam();
  Pencil pencil;
  Jacobi<double> jacobi(pencil.context, pencil.a.diagonal());
  LobpcgOptions options;
  options.pairs = pairs;
  options.which = which;
  options.tolerance = 1e-9;
  options.max_iterations = 3000;
  const auto result = lobpcg<double>(pencil.space, pencil.a, &pencil.b,
                                     which == Which::smallest ? &jacobi : nullptr, nullptr, {}, options);
  const std::vector<double> exact = pencil_eigenvalues();
  for (int j = 0; j < pairs; ++j) {
    const double expected = exact[static_cast<std::size_t>(which == Which::smallest ? j : n - 1 - j)];
    EXPECT_NEAR(result.eigenvalues[static_cast<std::size_t>(j)], expected, 1e-10 * std::abs(expected)) << j;
    EXPECT_NE(result.outcomes[static_cast<std::size_t>(j)], Outcome::not_converged) << result.remark;
  }
  EXPECT_LT(mass_orthogonality_error(pencil, result.eigenvectors), 1e-11);
}

// 8 pairs iterate; 60 and all of them are solved densely.
INSTANTIATE_TEST_SUITE_P(Both, PencilEnds,
                         ::testing::Combine(::testing::Values(Which::smallest, Which::largest),
                                            ::testing::Values(1, 8, 60, n)));

TEST(DenseWay, KeepsConstraintsOut) {
  Pencil pencil;
  LobpcgOptions options;
  options.pairs = 60;
  auto lowest = lobpcg<double>(pencil.space, pencil.a, &pencil.b, nullptr, nullptr, {}, options);
  const auto next = lobpcg<double>(pencil.space, pencil.a, &pencil.b, nullptr, &lowest.eigenvectors, {}, options);
  const std::vector<double> exact = pencil_eigenvalues();
  for (std::size_t j = 0; j < 60; ++j) EXPECT_NEAR(next.eigenvalues[j], exact[60 + j], 1e-10 * exact[60 + j]);
}

/// Half of the values are zero, which nothing is small beside.
TEST(DenseWay, ZerosOfAProjectorBesideAConstraint) {
  constexpr int size = 400;
  // Reflections of the first n / 2 unit vectors.
  const auto turned = [](GlobalIndex i, GlobalIndex j) {
    const auto part = [](GlobalIndex k) { return std::sin(1.0 + 0.37 * static_cast<double>(k * k % 97)); };
    static const double square = [&] {
      double sum = 0.0;
      for (GlobalIndex k = 0; k < size; ++k) sum += part(k) * part(k);
      return sum;
    }();
    const auto reflected = [&](GlobalIndex row, GlobalIndex column) {
      return (row == column ? 1.0 : 0.0) - 2.0 * part(row) * part(column) / square;
    };
    double sum = 0.0;
    for (GlobalIndex k = size / 2; k < size; ++k) sum += reflected(i, k) * reflected(j, k);
    return sum;
  };
  test::RuleSource source(size, turned);
  test::Problem<double> problem(source);
  LobpcgOptions options;
  options.pairs = size;
  const auto all = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options);
  DenseBlock<double> constraint = problem.space.make_block(1);
  problem.space.copy(all.eigenvectors.columns(0, 1), constraint.view());
  options.pairs = size - 2;
  const auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, &constraint, {}, options);
  ASSERT_EQ(result.eigenvalues.size(), static_cast<std::size_t>(size - 2));
  for (std::size_t j = 0; j < result.eigenvalues.size(); ++j) {
    EXPECT_NE(result.outcomes[j], Outcome::not_converged) << j;
    EXPECT_NEAR(result.eigenvalues[j], j < size / 2 - 1 ? 0.0 : 1.0, 1e-13) << j;
  }
}

/// Rounding errors of the largest value are larger than what the wanted ones differ by.
TEST(DenseWay, TheLowestOfValuesOverTwentyDecades) {
  std::vector<double> values(20);
  for (int i = 0; i < 20; ++i) values[static_cast<std::size_t>(i)] = std::pow(10.0, -10.0 + i * 7 % 20);
  test::RuleSource source(
      20, [&](GlobalIndex i, GlobalIndex j) { return i == j ? values[static_cast<std::size_t>(i)] : 0.0; });
  test::Problem<double> problem(source);
  const LobpcgOptions options{.pairs = 4, .tolerance = 1e-8};
  const auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options);
  std::sort(values.begin(), values.end());
  ASSERT_EQ(result.eigenvalues.size(), 4U);
  for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(result.eigenvalues[j], values[j], 1e-6 * values[j]) << j;
}

/// The same numbers as from products with unit vectors, which take n times as long for a matrix that is full;
/// beside rows that are left out, too.
TEST(DenseWay, MatricesAreGatheredWithoutProducts) {
  for (const bool leaves_out : {false, true}) {
    Pencil pencil;
    if (leaves_out) {
      std::vector<LocalIndex> rows;
      for (LocalIndex i = 1; i < pencil.space.local_rows(); i += 7) rows.push_back(i);
      pencil.space.leave_out(std::move(rows));
    }
    test::CountingOperator<double> hidden(pencil.a);
    const DenseRows rows = dense_rows(pencil.space);
    const SmallMatrix by_entries = assemble_dense<double>(pencil.space, rows, pencil.a);
    const SmallMatrix by_products = assemble_dense<double>(pencil.space, rows, hidden);
    EXPECT_EQ(hidden.count, pencil.space.dimension());
    ASSERT_EQ(by_entries.rows(), pencil.comm.is_root() ? pencil.space.dimension() : 0);
    EXPECT_TRUE(std::equal(by_entries.values().begin(), by_entries.values().end(), by_products.values().begin()));
  }
}

TEST(DenseWay, OneRowAndMoreRanksThanRows) {
  const Communicator comm(MPI_COMM_WORLD);
  const LaplacianOptions one{.size = {1}};
  test::Problem<double> problem(*laplacian1d(comm, one));
  const auto result =
      lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, LobpcgOptions{});
  EXPECT_NEAR(result.eigenvalues.front(), 2.0, 1e-15);
}

TEST(Pencils, AnIndefiniteMassMatrixIsNamed) {
  Pencil pencil;
  DistributedMatrix<double> indefinite(
      pencil.context,
      rows_of(pencil.comm, pencil.partition,
              [](int i, int j) { return i == j ? (i % 2 == 0 ? 1.0 : -5.0) : 0.0; }),
      pencil.partition, pencil.partition);
  LobpcgOptions options;
  options.pairs = 4;
  EXPECT_THROW(lobpcg<double>(pencil.space, pencil.a, &indefinite, nullptr, nullptr, {}, options), Error);
}

}  // namespace
}  // namespace block_eigs
