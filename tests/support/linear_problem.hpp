#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "io/source/matrix_source.hpp"
#include "solver/block_cg/block_cg.hpp"
#include "tests/support/all_rows.hpp"
#include "tests/support/eigen_problem.hpp"

extern "C" void dposv_(const char* part, const int* n, const int* sides, double* a, const int* lda, double* b,
                       const int* ldb, int* info);

namespace block_eigs::test {

/// A symmetric matrix by a rule for its entries.
class RuleSource final : public MatrixSource {
 public:
  using Rule = std::function<double(GlobalIndex, GlobalIndex)>;
  RuleSource(GlobalIndex size, Rule rule, MPI_Comm ranks = MPI_COMM_WORLD)
      : comm_(ranks), size_(size), rule_(std::move(rule)) {}

  GlobalIndex rows() const override { return size_; }
  GlobalIndex columns() const override { return size_; }
  std::string description() const override { return "rule"; }
  CsrRows read(const Partition& partition) override {
    CsrRows rows;
    rows.row_begin = partition.begin(comm_.rank());
    rows.global_rows = rows.global_columns = size_;
    for (GlobalIndex i = rows.row_begin; i < partition.end(comm_.rank()); ++i) {
      for (GlobalIndex j = 0; j < size_; ++j) {
        const double value = rule_(i, j);
        if (value == 0.0) continue;
        rows.columns.push_back(j);
        rows.values.push_back(value);
      }
      rows.row_offsets.push_back(static_cast<Offset>(rows.columns.size()));
    }
    return rows;
  }

 private:
  Communicator comm_;
  GlobalIndex size_;
  Rule rule_;
};

/// n x m, own rows, by a rule for the entries.
template <class T, class Rule>
DenseBlock<T> make_rhs(BlockSpace<T>& space, int sides, Rule rule) {
  std::vector<T> values;
  for (GlobalIndex i = space.first_row(); i < space.first_row() + space.local_rows(); ++i) {
    for (int j = 0; j < sides; ++j) values.push_back(static_cast<T>(rule(i, j)));
  }
  DenseBlock<T> block = space.make_block(sides);
  block.from_host(values.data());
  return block;
}

template <class T>
DenseBlock<T> random_rhs(BlockSpace<T>& space, int sides, std::uint64_t seed = 7) {
  DenseBlock<T> block = space.make_block(sides);
  space.fill_random(block.view(), seed);
  return block;
}

/// Norms of F - A X, computed here.
template <class T>
std::vector<double> true_norms(Problem<T>& problem, const DenseBlock<T>& f, const DenseBlock<T>& x) {
  DenseBlock<T> ax = problem.space.make_block(x.cols());
  problem.matrix.apply(x.view(), ax.view());
  const std::vector<T> own_f = f.to_host();
  const std::vector<T> own_ax = ax.to_host();
  std::vector<double> squared(static_cast<std::size_t>(x.cols()), 0.0);
  for (std::size_t k = 0; k < own_f.size(); ++k) {
    squared[k % squared.size()] += std::pow(static_cast<double>(own_f[k]) - static_cast<double>(own_ax[k]), 2);
  }
  problem.comm.sum(std::span(squared));
  for (double& value : squared) value = std::sqrt(value);
  return squared;
}

/// Solution by LAPACK's dense Cholesky, row-major n x m, from all rows of F in the same order.
inline std::vector<double> dense_solution(int n, const RuleSource::Rule& rule, const std::vector<double>& f) {
  const int sides = static_cast<int>(f.size()) / n;
  std::vector<double> a, b(f.size());
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) a.push_back(rule(i, j));
  }
  for (std::size_t k = 0; k < f.size(); ++k) {
    b[k % static_cast<std::size_t>(sides) * static_cast<std::size_t>(n) + k / static_cast<std::size_t>(sides)] =
        f[k];
  }
  int info = 0;
  dposv_("L", &n, &sides, a.data(), &n, b.data(), &n, &info);
  EXPECT_EQ(info, 0) << "dposv";
  std::vector<double> x(f.size());
  for (std::size_t k = 0; k < f.size(); ++k) {
    x[k] =
        b[k % static_cast<std::size_t>(sides) * static_cast<std::size_t>(n) + k / static_cast<std::size_t>(sides)];
  }
  return x;
}

/// The promises that hold for every result: finite, residuals true, outcomes as these say.
template <class T>
void expect_consistent(Problem<T>& problem, const DenseBlock<T>& f, const BlockCgResult<T>& result,
                       const BlockCgOptions& options) {
  const auto sides = static_cast<std::size_t>(f.cols());
  const std::vector<double> norms = true_norms(problem, f, result.solution);
  const std::vector<double> f_norms = problem.space.column_norms(f.view());
  const std::vector<double> x_norms = problem.space.column_norms(result.solution.view());
  ASSERT_EQ(result.outcomes.size(), sides);
  ASSERT_EQ(result.iterations.size(), sides);
  ASSERT_EQ(result.recursive_residual_norms.size(), sides);
  const double epsilon = std::numeric_limits<T>::epsilon();
  bool all_done = true;
  for (std::size_t j = 0; j < sides; ++j) {
    ASSERT_TRUE(std::isfinite(norms[j])) << j;
    // Parts of sums are formed in T, in an order that depends on the columns side by side and on the processor's
    // vectors.
    EXPECT_NEAR(result.rhs_norms[j], f_norms[j], 4 * epsilon * f_norms[j]);
    const double rounding = 10 * epsilon * (problem.matrix.norm_inf() * x_norms[j] + f_norms[j]);
    const double summing = static_cast<double>(problem.space.dimension()) * 1e-16 * norms[j];
    EXPECT_NEAR(result.residual_norms[j], norms[j], rounding + summing) << j;
    if (result.outcomes[j] == Outcome::converged) {
      EXPECT_LE(result.residual_norms[j], options.tolerance * f_norms[j]) << j;
    } else if (result.outcomes[j] == Outcome::at_accuracy_limit) {
      EXPECT_GT(result.residual_norms[j], options.tolerance * f_norms[j]) << j;
      EXPECT_LE(result.residual_norms[j], rounding) << j;
    } else {
      all_done = false;
    }
  }
  EXPECT_EQ(result.remark.empty(), all_done) << result.remark;
  for (const BlockCgIteration& iteration : result.history) {
    for (const double norm : iteration.residual_norms) EXPECT_TRUE(std::isfinite(norm));
  }
}

}  // namespace block_eigs::test
