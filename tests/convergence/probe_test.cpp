// Results with pairs removed on purpose are handed to the probe, which must find these.
#include "solver/proof/probe.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "io/generate/generate.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/multigrid/amg.hpp"
#include "solver/multigrid/smoothed_aggregation.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"
#include "tests/support/turned_diagonal.hpp"

namespace block_eigs {
namespace {

using test::Problem;

constexpr int pairs = 16;

/// The grid whose spectrum is as that of a cube: eigenvalues 2 to 4 and 5 to 7 are triple.
const LaplacianOptions cube{.size = {20, 20, 20}};

template <class T>
struct Solved {
  EigenResult<T> result;
  ProbeOperators<T> operators;
  Which which = Which::smallest;
};

/// `result` without pair `removed` (none where negative).
template <class T>
ProbeResult<T> probe_without(BlockSpace<T>& space, const Solved<T>& solved, int removed, int degree,
                             std::uint64_t seed, bool in_float = false) {
  const auto all = static_cast<int>(solved.result.eigenvalues.size());
  const int left = removed < 0 ? all : all - 1;
  SmallMatrix selection(all, left);
  std::vector<double> values, norms;
  for (int j = 0, to = 0; j < all; ++j) {
    if (j == removed) continue;
    selection(j, to++) = 1.0;
    values.push_back(solved.result.eigenvalues[static_cast<std::size_t>(j)]);
    norms.push_back(solved.result.residual_norms[static_cast<std::size_t>(j)]);
  }
  DenseBlock<T> vectors = space.make_block(left);
  space.update({solved.result.eigenvectors.view()}, selection, {vectors.view()});
  const FoundPairs<T> found{solved.which, values, norms, vectors.view(), {}};
  return probe(space, solved.operators, found, {.degree = degree, .seed = seed, .in_float = in_float});
}

/// Pairs 1, the last of the triple 2 to 4, and 8 are found, every seed; without a pair missing nothing is.
template <class T>
void expect_sees_all(BlockSpace<T>& space, const Solved<T>& solved, int degree, double tolerance,
                     bool in_float = false) {
  for (std::uint64_t seed = 101; seed < 106; ++seed) {
    const ProbeResult<T> whole = probe_without(space, solved, -1, degree, seed, in_float);
    EXPECT_EQ(whole.missed.cols(), 0) << (whole.missed_values.empty() ? 0.0 : whole.missed_values[0]);
    EXPECT_TRUE(std::isfinite(whole.smallest_gap)) << "seed " << seed;
    for (const int removed : {0, 3, 7}) {
      const ProbeResult<T> result = probe_without(space, solved, removed, degree, seed, in_float);
      const double value = solved.result.eigenvalues[static_cast<std::size_t>(removed)];
      const double gap = std::abs(solved.result.eigenvalues.back() - value);
      EXPECT_LT(whole.smallest_gap, gap) << "pair " << removed;
      ASSERT_EQ(result.missed.cols(), 1) << removed << " seed " << seed;
      EXPECT_NEAR(result.missed_values[0], value, gap + tolerance * std::abs(value));
    }
  }
}

TEST(Probe, FindsPairsThatWereRemoved) {
  const Communicator comm(MPI_COMM_WORLD);
  Problem<double> problem(*laplacian3d(comm, cube));
  LobpcgOptions options;
  options.pairs = pairs;
  options.filtered_start = true;
  const Solved<double> solved{
      lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options),
      {.a = problem.matrix}};
  expect_sees_all(problem.space, solved, 50, 1e-9);
  const ProbeResult<double> whole = probe_without(problem.space, solved, -1, 50, 7);
  EXPECT_FALSE(whole.calibrated);
  EXPECT_LT(whole.smallest_gap, 0.4 * solved.result.eigenvalues.back());
  EXPECT_LE(whole.products, 4 * 53);
  // A short filter says that it sees less.
  EXPECT_GT(probe_without(problem.space, solved, -1, 20, 7).smallest_gap, whole.smallest_gap);
}

TEST(Probe, SeesTheUpperEndInFloat) {
  const Communicator comm(MPI_COMM_WORLD);
  Problem<float> problem(*laplacian3d(comm, cube));
  LobpcgOptions options;
  options.pairs = pairs;
  options.tolerance = 1e-4;
  options.which = Which::largest;
  const Solved<float> solved{lobpcg<float>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options),
                             {.a = problem.matrix},
                             Which::largest};
  expect_sees_all(problem.space, solved, 60, 1e-4);
}

/// A mass matrix with entries beside the diagonal, and the diagonal of A as preconditioner.
TEST(Probe, SeesPairsOfPencils) {
  const Communicator comm(MPI_COMM_WORLD);
  const LaplacianOptions square{.size = {30, 30}};
  Problem<double> problem(*laplacian2d(comm, square));
  test::RuleSource mass_source(900, [](GlobalIndex i, GlobalIndex j) {
    return i == j ? 2.0 + static_cast<double>(i % 3) : (i - j == 1 || j - i == 1 ? 0.5 : 0.0);
  });
  Problem<double> mass(mass_source);
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  LobpcgOptions options;
  options.pairs = pairs;
  const Solved<double> solved{
      lobpcg<double>(problem.space, problem.matrix, &mass.matrix, &jacobi, nullptr, {}, options),
      {problem.matrix, &mass.matrix, &jacobi, problem.matrix.scaled_gershgorin_bound()}};
  expect_sees_all(problem.space, solved, 60, 1e-9);
  EXPECT_TRUE(probe_without(problem.space, solved, -1, 60, 7).calibrated);
}

TEST(Probe, FewIterationsDoWithMultigrid) {
  const Communicator comm(MPI_COMM_WORLD);
  const LaplacianOptions grid{.size = {24, 24, 24}};
  const auto source = laplacian3d(comm, grid);
  Problem<double> problem(*source);
  Amg<double> amg(problem.context,
                  smoothed_aggregation(problem.comm, source->read(problem.partition), problem.partition, {}), {});
  LobpcgOptions options;
  options.pairs = pairs;
  const Solved<double> solved{lobpcg<double>(problem.space, problem.matrix, nullptr, &amg, nullptr, {}, options),
                              {problem.matrix, nullptr, &amg, 1.1}};
  expect_sees_all(problem.space, solved, 6, 1e-9);
  EXPECT_LT(probe_without(problem.space, solved, -1, 6, 7).smallest_gap, solved.result.eigenvalues.back());
}

/// A filter in float has twice the columns at the same price, and as much again to promise; what it has found is
/// judged in double.
TEST(Probe, FiltersRunInFloatWhereThatSuffices) {
  const Communicator comm(MPI_COMM_WORLD);
  const LaplacianOptions grid{.size = {24, 24, 24}};
  const auto source = laplacian3d(comm, grid);
  Problem<double> problem(*source);
  Problem<float> rounded(*source);
  const auto cycle = [&]<class T>(Problem<T>& of) {
    return std::make_unique<Amg<T>>(
        of.context, smoothed_aggregation(of.comm, source->read(of.partition), of.partition, {}), AmgOptions{});
  };
  const auto amg = cycle(problem);
  const auto amg_in_float = cycle(rounded);
  LobpcgOptions options;
  options.pairs = pairs;
  Solved<double> solved{lobpcg<double>(problem.space, problem.matrix, nullptr, amg.get(), nullptr, {}, options),
                        {problem.matrix, nullptr, amg.get(), 1.0, &rounded.matrix, amg_in_float.get()}};
  const auto found = [&] {
    return FoundPairs<double>{Which::smallest,
                              solved.result.eigenvalues,
                              solved.result.residual_norms,
                              solved.result.eigenvectors.view(),
                              {}};
  };
  EXPECT_TRUE(probes_in_float(problem.space, solved.operators, found()));
  expect_sees_all(problem.space, solved, 4, 1e-9, true);
  const double in_double = probe_without(problem.space, solved, -1, 3, 7).smallest_gap;
  EXPECT_LT(probe_without(problem.space, solved, -1, 3, 7, true).smallest_gap, 0.8 * in_double);
  // Without the preconditioner the operators in float are others than those in double.
  solved.operators.preconditioner_in_float = nullptr;
  EXPECT_FALSE(probes_in_float(problem.space, solved.operators, found()));
}

/// Eigenvalues 1e-8 apart from one another are all the same to float, whose rounding is that of the largest, 1.
TEST(Probe, FiltersStayInDoubleWhereFloatIsTooCoarse) {
  const auto value = [](GlobalIndex i) { return i < 20 ? 1e-6 + 1e-8 * static_cast<double>(i) : 1.0; };
  test::RuleSource source(400, [&](GlobalIndex i, GlobalIndex j) { return i == j ? value(i) : 0.0; });
  Problem<double> problem(source);
  Problem<float> rounded(source);
  LobpcgOptions options;
  options.pairs = pairs;
  const EigenResult<double> result =
      lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options);
  const FoundPairs<double> found{
      Which::smallest, result.eigenvalues, result.residual_norms, result.eigenvectors.view(), {}};
  const ProbeOperators<double> operators{.a = problem.matrix, .a_in_float = &rounded.matrix};
  EXPECT_FALSE(probes_in_float(problem.space, operators, found));
}

/// Constraints are known to the user, and no news.
TEST(Probe, LeavesConstraintsAlone) {
  const Communicator comm(MPI_COMM_WORLD);
  Problem<double> problem(*laplacian3d(comm, cube));
  LobpcgOptions options;
  options.pairs = 7;
  const EigenResult<double> all =
      lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options);
  const std::vector<double> values(all.eigenvalues.begin() + 4, all.eigenvalues.end());
  const std::vector<double> norms(all.residual_norms.begin() + 4, all.residual_norms.end());
  // As users give them: a basis of any kind.
  DenseBlock<double> constraints = problem.space.make_block(4);
  SmallMatrix mixed(4, 4);
  for (int j = 0; j < 4; ++j) {
    for (int i = 0; i <= j; ++i) mixed(i, j) = 1.0 + i + 2.0 * j;
  }
  problem.space.update({all.eigenvectors.columns(0, 4)}, mixed, {constraints.view()});
  const FoundPairs<double> found{Which::smallest, values, norms, all.eigenvectors.columns(4, 3),
                                 constraints.view()};
  EXPECT_EQ(probe(problem.space, {.a = problem.matrix}, found, {.degree = 60}).missed.cols(), 0);
  const FoundPairs<double> unknown{Which::smallest, values, norms, all.eigenvectors.columns(4, 3), {}};
  EXPECT_EQ(probe(problem.space, {.a = problem.matrix}, unknown, {.degree = 60}).missed.cols(), 4);
}

/// Far below the found pairs a constraint grows in filters until nothing else is left, or nothing finite.
TEST(Probe, TakesOutConstraintsFarBelow) {
  constexpr GlobalIndex n = 4000;
  const auto value = [](GlobalIndex i) {
    if (i == 0) return -1.0;
    return i <= 400 ? 0.02 + 5e-5 * static_cast<double>(i)
                    : 0.05 + 0.95 * static_cast<double>(i - 400) / (n - 401);
  };
  std::vector<double> all;
  for (GlobalIndex i = 0; i < n; ++i) all.push_back(value(i));
  test::RuleSource source = test::turned_diagonal(all);
  Problem<double> problem(source);
  const auto eigenvectors = [&](GlobalIndex row, LocalIndex columns) {
    DenseBlock<double> block = problem.space.make_block(columns);
    std::vector<double> own(static_cast<std::size_t>(problem.space.local_rows()) *
                            static_cast<std::size_t>(columns));
    const GlobalIndex begin = problem.partition.begin(problem.comm.rank());
    for (LocalIndex j = 0; j < columns; ++j) {
      for (const GlobalIndex at : {row + j, row + j + n / 2}) {
        if (at < begin || at >= begin + problem.space.local_rows()) continue;
        own[static_cast<std::size_t>((at - begin) * columns + j)] =
            at < n / 2 ? test::turn_cosine : test::turn_sine;
      }
    }
    block.from_host(own.data());
    return block;
  };
  const DenseBlock<double> constraint = eigenvectors(0, 1);
  const DenseBlock<double> vectors = eigenvectors(1, 8);
  std::vector<double> values;
  for (GlobalIndex i = 1; i < 9; ++i) values.push_back(value(i));
  const std::vector<double> norms(8, 1e-15);
  const FoundPairs<double> found{Which::smallest, values, norms, vectors.view(), constraint.view()};
  const auto result = probe(problem.space, {.a = problem.matrix}, found, {.degree = 400});
  EXPECT_EQ(result.missed.cols(), 0);
  const std::vector<double> fewer(values.begin() + 1, values.end());
  const FoundPairs<double> one_missing{Which::smallest, fewer, std::vector<double>(7, 1e-15),
                                       vectors.columns(1, 7), constraint.view()};
  EXPECT_EQ(probe(problem.space, {.a = problem.matrix}, one_missing, {.degree = 400}).missed.cols(), 1);
  // Where nobody knows of it, it is what was missed.
  const FoundPairs<double> unknown{Which::smallest, values, norms, vectors.view(), {}};
  const auto missed = probe(problem.space, {.a = problem.matrix}, unknown, {.degree = 400});
  ASSERT_GE(missed.missed.cols(), 1);
  EXPECT_NEAR(missed.missed_values[0], -1.0, 1e-6);
}

}  // namespace
}  // namespace block_eigs
