#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "solver/lobpcg/inverse_iteration.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/lobpcg/lobpcg_start.hpp"
#include "solver/lobpcg/lobpcg_steps.hpp"
#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"

extern "C" {
void dpotrf_(const char* part, const int* n, double* a, const int* lda, int* info);
void dpotrs_(const char* part, const int* n, const int* sides, const double* a, const int* lda, double* b,
             const int* ldb, int* info);
void dsyev_(const char* job, const char* part, const int* n, double* a, const int* lda, double* w, double* work,
            const int* lwork, int* info);
}

// A^-1 by factors as the preconditioner, of matrices that are much larger than the wanted eigenvalues.
namespace block_eigs {
namespace {

constexpr int side = 28;
constexpr int n = side * side;

/// Springs between neighbours on a grid whose rim is held: one in four is stiff, by 5 to 12 decades.
double stiffness(int i, int j) {
  const auto low = static_cast<std::uint32_t>(std::min(i, j));
  const auto high = static_cast<std::uint32_t>(std::max(i, j));
  const std::uint32_t bits = (low * 2654435761U) ^ (high * 2246822519U);
  const std::uint32_t mixed = (bits ^ (bits >> 15)) * 2654435769U;
  return (mixed >> 8) % 4 == 0 ? std::pow(10.0, 5.0 + (mixed >> 16) % 8) : 1.0;
}

bool neighbours(int i, int j) { return std::abs(i / side - j / side) + std::abs(i % side - j % side) == 1; }

double springs(GlobalIndex row, GlobalIndex column) {
  const int i = static_cast<int>(row), j = static_cast<int>(column);
  if (i != j) return neighbours(i, j) ? -stiffness(i, j) : 0.0;
  double sum = 0.0;
  for (const int other : {i - side, i - 1, i + 1, i + side})
    sum += other >= 0 && other < n && neighbours(i, other) ? stiffness(i, other) : 1.0;
  return sum;
}

/// By Cholesky factors, on one rank.
class Inverse final : public LinearOperator<double> {
 public:
  Inverse() : factor_(static_cast<std::size_t>(n) * n) {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) factor_[static_cast<std::size_t>(j * n + i)] = springs(i, j);
    }
    int info = 0;
    const int order = n;
    dpotrf_("L", &order, factor_.data(), &order, &info);
    EXPECT_EQ(info, 0);
  }
  LocalIndex rows() const override { return n; }
  LocalIndex columns() const override { return n; }
  void apply(ConstBlockView<double> x, BlockView<double> y) override {
    std::vector<double> column(n);
    for (LocalIndex j = 0; j < x.cols; ++j) {
      for (int i = 0; i < n; ++i) column[static_cast<std::size_t>(i)] = x.data[i * x.stride + j];
      solve(column, 1);
      for (int i = 0; i < n; ++i) y.data[i * y.stride + j] = column[static_cast<std::size_t>(i)];
    }
  }
  /// Of A, ascending, as inverses of those of A^-1, which is small where A is large.
  std::vector<double> smallest_eigenvalues(int count) const {
    std::vector<double> inverse(factor_.size(), 0.0), values(n), work(1 << 18);
    for (int i = 0; i < n; ++i) inverse[static_cast<std::size_t>(i) * (n + 1)] = 1.0;
    solve(inverse, n);
    int info = 0;
    const int order = n, room = static_cast<int>(work.size());
    dsyev_("N", "L", &order, inverse.data(), &order, values.data(), work.data(), &room, &info);
    EXPECT_EQ(info, 0);
    std::vector<double> wanted;
    for (int k = 0; k < count; ++k) wanted.push_back(1.0 / values[static_cast<std::size_t>(n - 1 - k)]);
    return wanted;
  }

 private:
  void solve(std::vector<double>& sides, int count) const {
    int info = 0;
    const int order = n;
    dpotrs_("L", &order, &count, factor_.data(), &order, sides.data(), &order, &info);
  }

  std::vector<double> factor_;
};

EigenResult<double> solve(test::Problem<double>& problem, Inverse& inverse, int pairs, int columns) {
  const LobpcgOptions options{.pairs = pairs,
                              .tolerance = 1e-8,
                              .max_iterations = 100,
                              .block_size = columns,
                              .dense_up_to = 0,
                              .exact_inverse = true};
  return lobpcg<double>(problem.space, problem.matrix, nullptr, &inverse, nullptr, {}, options);
}

TEST(LobpcgInverse, ValuesFarBelowTheNormAreTakenToTheLimitOfItsRoundingErrors) {
  test::RuleSource source(n, springs);
  test::Problem<double> problem(source);
  Inverse inverse;
  constexpr int pairs = 40;
  const std::vector<double> exact = inverse.smallest_eigenvalues(pairs);
  for (const int columns : {8, 20, 48}) {
    const EigenResult<double> result = solve(problem, inverse, pairs, columns);
    EXPECT_TRUE(result.remark.empty()) << columns << " columns: " << result.remark;
    ASSERT_EQ(result.eigenvalues.size(), exact.size()) << columns;
    for (std::size_t j = 0; j < exact.size(); ++j) {
      EXPECT_NE(result.outcomes[j], Outcome::not_converged) << columns << " columns, pair " << j;
      EXPECT_NEAR(result.eigenvalues[j], exact[j], 1e-3 * exact[j]) << columns << " columns, pair " << j;
    }
    EXPECT_LT(test::orthogonality_error(problem.space, result.eigenvectors), 1e-13);
  }
}

/// One value far beyond 399 others, 1 to 5; times `sign`.
struct Outlier {
  static constexpr double sigma = 1.5;
  double sign;

  double value(GlobalIndex i) const { return sign * (i == 0 ? -1e5 : 1.0 + 0.01 * static_cast<double>(i)); }
};

/// (A - sigma I)^-1 of that.
class OutlierInverse final : public LinearOperator<double> {
 public:
  explicit OutlierInverse(Outlier outlier) : outlier_(outlier) {}
  LocalIndex rows() const override { return 400; }
  LocalIndex columns() const override { return 400; }
  void apply(ConstBlockView<double> x, BlockView<double> y) override {
    for (LocalIndex i = 0; i < 400; ++i) {
      const double pivot = outlier_.value(i) - outlier_.sign * (Outlier::sigma + 0.005);
      for (LocalIndex j = 0; j < x.cols; ++j) y.data[i * y.stride + j] = x.data[i * x.stride + j] / pivot;
    }
  }

 private:
  Outlier outlier_;
};

/// An inverse takes off what lies far from sigma, and that may be what is wanted most.
TEST(LobpcgInverse, ARestartKeepsAWantedPairThatIsFarFromTheShift) {
  for (const double sign : {1.0, -1.0}) {
    const Outlier outlier{sign};
    test::RuleSource source(400, [&](GlobalIndex i, GlobalIndex j) { return i == j ? outlier.value(i) : 0.0; });
    test::Problem<double> problem(source);
    OutlierInverse inverse(outlier);
    const LobpcgOptions options{.pairs = 6,
                                .which = sign > 0.0 ? Which::smallest : Which::largest,
                                .block_size = 8,
                                .exact_inverse = true};
    Budget budget{10};
    const Observer observer;
    const Proceed proceed;
    std::vector<LobpcgIteration> history;
    const LobpcgRun<double> run{
        {problem.space, problem.matrix, nullptr, &inverse}, options, {}, budget, observer, proceed, history};
    LobpcgState<double> state(run.problem, options, 8, 0);
    state.window = make_window(options, false);
    DenseBlock<double> initial = problem.space.make_block(8);
    problem.space.fill_random(initial.view(), 5);
    initial.view().data[0] = 10.0;  // about half of the first vector's length
    start_block<double>(run, state, {std::move(initial)});
    const double first = sign * state.ritz.values[0];
    const double last = sign * state.ritz.values[5];
    ASSERT_LT(first, -100.0);
    for (int restart = 0; restart < 3; ++restart) restart_from_inverse(run, state);
    EXPECT_LE(sign * state.ritz.values[0], first * (1.0 - 1e-12));
    EXPECT_LT(std::abs(sign * state.ritz.values[5] - Outlier::sigma), 0.1 * std::abs(last - Outlier::sigma));
  }
}

}  // namespace
}  // namespace block_eigs
