// Solves with the factors of A - sigma B, against dense ones by LAPACK.
#include "solver/factors/factor_operator.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <string>
#include <vector>

#include "spmm/error.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "tests/support/linear_problem.hpp"

namespace block_eigs {
namespace {

constexpr int n = 57;
constexpr factors::Use use{"the test", "use another one"};

class FactorOperator : public testing::Test {
 protected:
  void SetUp() override {
    if (!factors::available()) GTEST_SKIP() << "this build lacks MUMPS: nothing was tested";
  }
};

double rule_a(GlobalIndex i, GlobalIndex j) {
  if (i == j) return 3.0 + std::cos(static_cast<double>(i));
  return (i - j) % 7 == 0       ? -0.2 / (1.0 + std::abs(static_cast<double>(i - j)))
         : std::abs(i - j) == 1 ? -1.0
                                : 0.0;
}

double rule_b(GlobalIndex i, GlobalIndex j) {
  if (i == j) return 2.0 + 0.1 * static_cast<double>(i % 5);
  return std::abs(i - j) == 1 ? 0.4 : std::abs(i - j) == 2 ? 0.1 : 0.0;  // where A has nothing, too
}

double rhs(GlobalIndex i, int j) { return std::sin(1.0 + static_cast<double>(i) * (j + 1)); }

/// (A - sigma B)^-1 F by LAPACK, n x columns by rows; `sign` times that matrix is positive definite.
std::vector<double> dense_solution(double sigma, bool with_mass, int columns, double sign) {
  std::vector<double> k(static_cast<std::size_t>(n) * n);
  std::vector<double> f(static_cast<std::size_t>(n * columns));
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      k[static_cast<std::size_t>(i * n + j)] = sign * (rule_a(i, j) - sigma * (with_mass ? rule_b(i, j)
                                                                               : i == j  ? 1.0
                                                                                         : 0.0));
    for (int j = 0; j < columns; ++j) f[static_cast<std::size_t>(i + j * n)] = sign * rhs(i, j);
  }
  int info = 0;
  const int order = n;
  dposv_("U", &order, &columns, k.data(), &order, f.data(), &order, &info);
  EXPECT_EQ(info, 0);
  std::vector<double> x(f.size());
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < columns; ++j)
      x[static_cast<std::size_t>(i * columns + j)] = f[static_cast<std::size_t>(i + j * n)];
  }
  return x;
}

/// Solves for one width after another, out of and into the middle of wider blocks.
template <class T>
void expect_solutions(const Partition& partition, double sigma, bool with_mass, double sign, double tolerance) {
  const Communicator comm(MPI_COMM_WORLD);
  const CsrRows a = test::RuleSource(n, rule_a).read(partition);
  const CsrRows b = test::RuleSource(n, rule_b).read(partition);
  const CsrRows* mass = with_mass ? &b : nullptr;
  const auto factorization = std::make_shared<factors::Factorization>(comm, a, mass, partition, use);
  const factors::Inertia inertia = factorization->factorize(a, mass, sigma);
  EXPECT_EQ(sign > 0.0 ? inertia.above : inertia.below, n);
  EXPECT_EQ(inertia.at, 0);
  const Context<T> context = make_context<T>(comm, Backend::host);
  const LocalIndex rows = partition.size(comm.rank());
  const GlobalIndex first = partition.begin(comm.rank());
  const auto solver = factors::make_operator(context, factorization, rows, sign);
  solver->reserve(3);
  bool first_block = true;
  for (const int columns : {3, 3, 7, 1}) {
    if (!first_block) solver->reserve(7);
    first_block = false;
    const int width = columns + 2;
    std::vector<T> values(static_cast<std::size_t>(rows) * static_cast<std::size_t>(width), T(99));
    for (LocalIndex i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j)
        values[static_cast<std::size_t>(i * width + j + 1)] = static_cast<T>(rhs(first + i, j));
    }
    DenseBlock<T> x(context.device, rows, width);
    DenseBlock<T> y(context.device, rows, width);
    x.from_host(values.data());
    y.from_host(values.data());
    solver->apply(x.view().columns(1, columns), y.view().columns(1, columns));
    const std::vector<T> found = y.to_host();
    const std::vector<double> exact = dense_solution(sigma, with_mass, columns, sign);
    for (LocalIndex i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j)
        EXPECT_NEAR(found[static_cast<std::size_t>(i * width + j + 1)],
                    sign * exact[static_cast<std::size_t>((first + i) * columns + j)], tolerance);
      EXPECT_EQ(found[static_cast<std::size_t>(i * width)], T(99));
      EXPECT_EQ(found[static_cast<std::size_t>(i * width + width - 1)], T(99));
    }
  }
}

/// With ranks of about as many rows each, and where the last but one has none.
template <class T>
void expect_solutions(double sigma, bool with_mass, double sign, double tolerance) {
  const Communicator comm(MPI_COMM_WORLD);
  expect_solutions<T>(Partition::uniform(n, comm.size()), sigma, with_mass, sign, tolerance);
  std::vector<GlobalIndex> offsets(static_cast<std::size_t>(comm.size()) + 1, n);
  offsets.front() = 0;
  if (comm.size() > 2) offsets[1] = 20;
  expect_solutions<T>(Partition(offsets), sigma, with_mass, sign, tolerance);
}

/// Where the factors fit, and not what solves with them take.
TEST_F(FactorOperator, AsksForTheMemoryOfSolves) {
  const Communicator comm(MPI_COMM_WORLD);
  const Partition partition = Partition::uniform(n, comm.size());
  const CsrRows a = test::RuleSource(n, rule_a).read(partition);
  const factors::Factorization factorization(comm, a, nullptr, partition, use);
  factorization.require_memory();
  factorization.require_memory(7);
  constexpr LocalIndex far_too_many = 1 << 30;
  EXPECT_GT(factors::solve_bytes(comm, partition, far_too_many),
            1.0 * sizeof(double) * n * far_too_many / comm.size());
  EXPECT_THROW(factorization.require_memory(far_too_many), Agreed<RunError>);
}

TEST_F(FactorOperator, SolvesBlocksInDouble) {
  expect_solutions<double>(0.0, true, 1.0, 1e-12);
  expect_solutions<double>(0.0, false, 1.0, 1e-12);
  expect_solutions<double>(-0.7, false, 1.0, 1e-12);
  expect_solutions<double>(-0.3, true, 1.0, 1e-12);
}

TEST_F(FactorOperator, SolvesBlocksInFloat) { expect_solutions<float>(-0.7, false, 1.0, 1e-5); }

/// Beyond the upper end the matrix is negative definite, and the operator its negative inverse.
TEST_F(FactorOperator, IsPositiveDefiniteBeyondTheUpperEnd) {
  expect_solutions<double>(9.0, false, -1.0, 1e-12);
  expect_solutions<double>(9.0, true, -1.0, 1e-12);
}

TEST_F(FactorOperator, SaysWhatFactorsComeToBeforeTheyAreMade) {
  const Communicator comm(MPI_COMM_WORLD);
  const Partition partition = Partition::uniform(n, comm.size());
  const CsrRows a = test::RuleSource(n, rule_a).read(partition);
  const factors::Factorization factorization(comm, a, nullptr, partition, use);
  const factors::FactorSize& size = factorization.size();
  EXPECT_GE(size.entries, 2 * n - 1);
  EXPECT_LE(size.entries, n * n);
  EXPECT_GE(size.flops, n);
  EXPECT_LE(size.flops, 1.0 * n * n * n);
  EXPECT_GT(size.bytes, 0.0);
  EXPECT_EQ(comm.max(size.entries), size.entries);
  EXPECT_EQ(comm.max(size.flops), size.flops);
}

}  // namespace
}  // namespace block_eigs
