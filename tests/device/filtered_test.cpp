#include "tests/device/sparse_algebra_test.hpp"

namespace block_eigs::test {
namespace {

template <class Param>
class SparseAlgebraFilter : public SparseAlgebraTest<Param> {};
TYPED_TEST_SUITE(SparseAlgebraFilter, BothBackends, BackendName);

double block_norm(const Dense& a, std::size_t i, std::size_t j, std::size_t unknowns) {
  double sum = 0.0;
  for (std::size_t k = 0; k < unknowns; ++k) {
    for (std::size_t l = 0; l < unknowns; ++l) sum += std::pow(a[i * unknowns + k][j * unknowns + l], 2);
  }
  return std::sqrt(sum);
}

struct Filtered {
  Dense matrix;
  Offset weak = 0;  ///< blocks
  int kept = 0;     ///< rows that would have lost the sign of their diagonal, or all couplings
};

/// A^F of Vanek, Mandel and Brezina, entry by entry. Nodes before `hubs` are hubs.
Filtered filtered(const Dense& a, std::size_t unknowns, double threshold, std::size_t hubs) {
  Filtered result{a};
  const std::size_t nodes = a.size() / unknowns;
  for (std::size_t i = hubs; i < nodes; ++i) {
    for (std::size_t j = 0; j < nodes; ++j) {
      const double norm = block_norm(a, i, j, unknowns);
      const double least = threshold * std::sqrt(block_norm(a, i, i, unknowns) * block_norm(a, j, j, unknowns));
      if (i == j || norm == 0.0 || norm > least) continue;
      ++result.weak;
      for (std::size_t row = i * unknowns; row < (i + 1) * unknowns; ++row) {
        for (std::size_t l = 0; l < unknowns; ++l)
          result.matrix[row][i * unknowns + l] += std::exchange(result.matrix[row][j * unknowns + l], 0.0);
      }
    }
    for (std::size_t row = i * unknowns; row < (i + 1) * unknowns; ++row) {
      bool coupled = false;
      for (std::size_t column = 0; column < a.size(); ++column)
        coupled = coupled || (column / unknowns != i && result.matrix[row][column] != 0.0);
      if (coupled && result.matrix[row][row] * a[row][row] > 0.0) continue;
      result.matrix[row] = a[row];
      ++result.kept;
    }
  }
  return result;
}

TYPED_TEST(SparseAlgebraFilter, AddsWeakCouplingsToTheDiagonal) {
  for (const LocalIndex unknowns : {1, 2, 3, 6}) {
    const HostCsr a = graph_laplacian(this->random_, 300, 10, 2, unknowns);
    const auto on_device = a.on(this->device_);
    const auto view = on_device.view();
    constexpr double threshold = 0.1;
    const CouplingGraph graph = this->algebra_->couplings(view, unknowns, threshold, 60.0 * unknowns);
    ASSERT_EQ(download(graph.hub)[1], 1);
    const HostCsr found = download(this->algebra_->filtered(view, unknowns, graph.strength));
    expect_ascending(found);
    const Filtered expected = filtered(a.dense(), static_cast<std::size_t>(unknowns), threshold, 2);
    EXPECT_GT(expected.weak, 100);
    EXPECT_EQ(graph.weak, expected.weak);
    EXPECT_LT(found.values.size(), a.values.size());
    const Dense dense = found.dense();
    for (std::size_t i = 0; i < dense.size(); ++i) {
      for (std::size_t j = 0; j < dense.size(); ++j) ASSERT_NEAR(dense[i][j], expected.matrix[i][j], 1e-13);
    }
  }
}

TYPED_TEST(SparseAlgebraFilter, KeepsRowsThatWouldLoseTheSignOfTheirDiagonal) {
  // Node 0 has many weak couplings that come to more than its diagonal entry.
  constexpr LocalIndex nodes = 40;
  HostCsr a;
  a.columns = nodes;
  for (LocalIndex i = 0; i < nodes; ++i) {
    for (LocalIndex j = 0; j < nodes; ++j) {
      if (i == j) a.add(j, 1.0);
      if ((i == 0) != (j == 0)) a.add(j, -0.04);
      if (i > 0 && j > 0 && std::abs(i - j) == 1) a.add(j, -0.3);
    }
    a.close_row();
  }
  const auto on_device = a.on(this->device_);
  const CouplingGraph graph = this->algebra_->couplings(on_device.view(), 1, 0.08, 1e9);
  const HostCsr found = download(this->algebra_->filtered(on_device.view(), 1, graph.strength));
  const Filtered expected = filtered(a.dense(), 1, 0.08, 0);
  EXPECT_EQ(expected.kept, 1);
  const Dense dense = found.dense();
  for (std::size_t i = 0; i < dense.size(); ++i) {
    for (std::size_t j = 0; j < dense.size(); ++j) ASSERT_NEAR(dense[i][j], expected.matrix[i][j], 1e-14);
  }
  EXPECT_EQ(dense[0], a.dense()[0]);
}

TYPED_TEST(SparseAlgebraFilter, KeepsRowsWithWeakCouplingsAlone) {
  // Each node has thirteen neighbours: 1/13 is below the threshold. The first three are coupled strongly as well.
  constexpr LocalIndex nodes = 60;
  HostCsr a;
  a.columns = nodes;
  for (LocalIndex i = 0; i < nodes; ++i) {
    for (LocalIndex j = 0; j < nodes; ++j) {
      const LocalIndex apart = std::min(std::abs(i - j), nodes - std::abs(i - j));
      if (i == j) a.add(j, 14.5);
      if (apart > 0 && apart <= 6) a.add(j, i < 3 && j < 3 ? -3.0 : -1.0);
    }
    a.close_row();
  }
  const auto on_device = a.on(this->device_);
  const CouplingGraph graph = this->algebra_->couplings(on_device.view(), 1, 0.08, 1e9);
  const HostCsr found = download(this->algebra_->filtered(on_device.view(), 1, graph.strength));
  const Filtered expected = filtered(a.dense(), 1, 0.08, 0);
  EXPECT_EQ(expected.kept, nodes - 3);
  const Dense dense = found.dense();
  for (std::size_t i = 0; i < dense.size(); ++i) {
    for (std::size_t j = 0; j < dense.size(); ++j) ASSERT_NEAR(dense[i][j], expected.matrix[i][j], 1e-13);
  }
}

TYPED_TEST(SparseAlgebraFilter, FindsNothingWeakWhereAllCouplingsAreStrong) {
  const HostCsr a = graph_laplacian(this->random_, 200, 6, 0);
  const auto on_device = a.on(this->device_);
  const CouplingGraph graph = this->algebra_->couplings(on_device.view(), 1, 0.0, 1e9);
  EXPECT_EQ(graph.weak, 0);
  EXPECT_EQ(download(this->algebra_->filtered(on_device.view(), 1, graph.strength)), a);
}

}  // namespace
}  // namespace block_eigs::test
