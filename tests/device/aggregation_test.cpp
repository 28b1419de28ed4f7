#include <map>
#include <numeric>

#include "tests/device/sparse_algebra_test.hpp"

namespace block_eigs::test {
namespace {

template <class Param>
class SparseAlgebraAggregation : public SparseAlgebraTest<Param> {};
TYPED_TEST_SUITE(SparseAlgebraAggregation, BothBackends, BackendName);

/// Nodes in descending order of priority, each that is not within two steps of one taken before; steps lead
/// through `candidates` alone.
std::vector<char> taken_in_order(const HostCsr& edges, const std::vector<char>& candidates) {
  std::vector<LocalIndex> order(candidates.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [](LocalIndex i, LocalIndex j) { return aggregate_priority(i) > aggregate_priority(j); });
  std::vector<char> taken(candidates.size(), 0);
  std::vector<char> close(candidates.size(), 0);
  const auto for_neighbours = [&](LocalIndex i, const auto& visit) {
    const auto row = static_cast<std::size_t>(i);
    for (auto k = static_cast<std::size_t>(edges.offsets[row]);
         k < static_cast<std::size_t>(edges.offsets[row + 1]); ++k) {
      if (candidates[static_cast<std::size_t>(edges.indices[k])] != 0) visit(edges.indices[k]);
    }
  };
  for (const LocalIndex i : order) {
    if (candidates[static_cast<std::size_t>(i)] == 0 || close[static_cast<std::size_t>(i)] != 0) continue;
    taken[static_cast<std::size_t>(i)] = 1;
    for_neighbours(i, [&](LocalIndex j) {
      close[static_cast<std::size_t>(j)] = 1;
      for_neighbours(j, [&](LocalIndex k) { close[static_cast<std::size_t>(k)] = 1; });
    });
  }
  return taken;
}

TYPED_TEST(SparseAlgebraAggregation, MakesAggregatesByTheRule) {
  constexpr std::size_t nodes = 3000;
  const HostCsr a = graph_laplacian(this->random_, nodes, 8, 0);
  const auto on_device = a.on(this->device_);
  const CouplingGraph graph = this->algebra_->couplings(on_device.view(), 1, 0.02, 1e9);
  const HostCsr edges = download(graph.neighbours);
  const AggregateMap map = this->algebra_->aggregate(graph);
  const std::vector<LocalIndex> found = download(map.of_node);

  const auto neighbours = [&](std::size_t i) {
    return std::vector<LocalIndex>(edges.indices.begin() + edges.offsets[i],
                                   edges.indices.begin() + edges.offsets[i + 1]);
  };
  std::vector<char> coupled(nodes);
  for (std::size_t i = 0; i < nodes; ++i) coupled[i] = neighbours(i).empty() ? 0 : 1;
  const std::vector<char> roots = taken_in_order(edges, coupled);
  std::size_t count = 0;
  std::vector<LocalIndex> of(nodes, -1);
  for (std::size_t i = 0; i < nodes; ++i) {
    if (roots[i] != 0) of[i] = static_cast<LocalIndex>(count++);
  }
  ASSERT_EQ(map.count, static_cast<LocalIndex>(count));
  for (int step = 0; step < 2; ++step) {
    const std::vector<LocalIndex> before = of;
    for (std::size_t i = 0; i < nodes; ++i) {
      if (before[i] >= 0) continue;
      std::map<LocalIndex, double> sums;
      for (auto k = static_cast<std::size_t>(edges.offsets[i]); k < static_cast<std::size_t>(edges.offsets[i + 1]);
           ++k) {
        const LocalIndex aggregate = before[static_cast<std::size_t>(edges.indices[k])];
        if (aggregate >= 0) sums[aggregate] += edges.values[k];
      }
      // Random weights: no two sums are equal.
      double most = 0.0;
      for (const auto& [aggregate, sum] : sums) {
        if (sum > most) of[i] = aggregate;
        most = std::max(most, sum);
      }
    }
  }
  EXPECT_EQ(found, of);
  for (std::size_t i = 0; i < nodes; ++i) EXPECT_EQ(of[i] >= 0, coupled[i] != 0);
}

TYPED_TEST(SparseAlgebraAggregation, TentativeInterpolationRepresentsTheVectors) {
  constexpr LocalIndex nodes = 600;
  constexpr LocalIndex unknowns = 3;
  constexpr int modes = 4;
  const HostCsr a = graph_laplacian(this->random_, nodes, 6, 0, unknowns);
  const AggregateMap map =
      this->algebra_->aggregate(this->algebra_->couplings(a.on(this->device_).view(), unknowns, 0.02, 1e9));
  std::vector<double> vectors(static_cast<std::size_t>(nodes * unknowns * modes));
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (double& value : vectors) value = uniform(this->random_);
  // The last mode is the sum of the others: everywhere dependent.
  for (std::size_t i = 0; i < vectors.size(); i += modes)
    vectors[i + 3] = vectors[i] + vectors[i + 1] + vectors[i + 2];
  const auto t = this->algebra_->tentative(map, unknowns, upload(this->device_, vectors), modes);
  const HostCsr found = download(t.interpolation);
  expect_ascending(found);
  ASSERT_EQ(found.columns, map.count * modes);
  const std::vector<double> coarse = download(t.coarse);
  Dense r(static_cast<std::size_t>(map.count * modes));
  for (std::size_t i = 0; i < r.size(); ++i)
    r[i].assign(coarse.begin() + static_cast<std::ptrdiff_t>(modes * i),
                coarse.begin() + static_cast<std::ptrdiff_t>(modes * (i + 1)));
  const Dense q = found.dense();
  const Dense back = product_of(q, r, modes);
  const std::vector<LocalIndex> of = download(map.of_node);
  for (std::size_t i = 0; i < back.size(); ++i) {
    const bool inside = of[i / unknowns] >= 0;
    for (std::size_t m = 0; m < modes; ++m)
      ASSERT_NEAR(back[i][m], inside ? vectors[i * modes + m] : 0.0, 1e-12) << i << ", " << m;
  }
  // Orthonormal columns, or zero ones.
  for (std::size_t c = 0; c < r.size(); c += 37) {
    for (std::size_t d = 0; d < r.size(); ++d) {
      double dot = 0.0;
      for (const auto& row : q) dot += row[c] * row[d];
      if (c == d && dot == 0.0) continue;
      ASSERT_NEAR(dot, c == d ? 1.0 : 0.0, 1e-12);
    }
  }
}

TYPED_TEST(SparseAlgebraAggregation, SmoothsInterpolation) {
  constexpr LocalIndex nodes = 400;
  const HostCsr a = graph_laplacian(this->random_, nodes, 6, 2);
  const auto on_device = a.on(this->device_);
  const CouplingGraph graph = this->algebra_->couplings(on_device.view(), 1, 0.02, 60.0);
  const std::vector<LocalIndex> hub = download(graph.hub);
  EXPECT_EQ(hub[0], 0);
  EXPECT_EQ(hub[1], 1);
  const AggregateMap map = this->algebra_->aggregate(graph);
  const auto t = this->algebra_->tentative(map, 1, upload(this->device_, std::vector<double>(nodes, 1.0)), 1);
  const MatrixNumbers numbers = this->algebra_->numbers(on_device.view());
  const double omega = 0.6;
  const HostCsr found =
      download(this->algebra_->smoothed(on_device.view(), numbers, t.interpolation.view(), graph, omega));
  expect_ascending(found);
  const Dense tentative = download(t.interpolation).dense();
  const Dense at = product_of(a.dense(), tentative, static_cast<std::size_t>(map.count));
  const Dense p = found.dense();
  const Dense dense = a.dense();
  std::vector<double> damped(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    double sum = 0.0;
    for (const double value : dense[i]) sum += std::abs(value);
    damped[i] = std::max(dense[i][i], 0.5 * sum);
  }
  for (std::size_t i = 0; i < p.size(); ++i) {
    const bool is_hub = hub[i] == static_cast<LocalIndex>(i);
    for (std::size_t j = 0; j < p[i].size(); ++j) {
      const double expected = tentative[i][j] - (is_hub ? 0.0 : omega / damped[i] * at[i][j]);
      ASSERT_NEAR(p[i][j], expected, 1e-13);
    }
  }
}

}  // namespace
}  // namespace block_eigs::test
