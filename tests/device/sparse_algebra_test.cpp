#include "tests/device/sparse_algebra_test.hpp"

#include <map>
#include <numeric>

namespace block_eigs::test {
namespace {

using Dense = std::vector<std::vector<double>>;

Dense product_of(const Dense& a, const Dense& b, std::size_t columns) {
  Dense c(a.size(), std::vector<double>(columns, 0.0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      for (std::size_t j = 0; j < columns; ++j) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}

void expect_ascending(const HostCsr& a) {
  for (std::size_t i = 0; i + 1 < a.offsets.size(); ++i) {
    for (auto k = static_cast<std::size_t>(a.offsets[i]) + 1; k < static_cast<std::size_t>(a.offsets[i + 1]); ++k)
      ASSERT_LT(a.indices[k - 1], a.indices[k]) << "row " << i;
  }
}

template <class Param>
class SparseAlgebraTest : public DeviceTest<Param> {
 protected:
  void SetUp() override {
    DeviceTest<Param>::SetUp();
    if (!this->IsSkipped()) algebra_ = make_sparse_algebra(this->device_);
  }

  void expect_product(const HostCsr& a, const HostCsr& b) {
    const auto c = algebra_->product(a.on(this->device_).view(), b.on(this->device_).view());
    ASSERT_TRUE(c.has_value());
    const HostCsr found = download(*c);
    expect_ascending(found);
    EXPECT_EQ(found.rows(), a.rows());
    EXPECT_EQ(found.columns, b.columns);
    const Dense expected = product_of(a.dense(), b.dense(), static_cast<std::size_t>(b.columns));
    const Dense dense = found.dense();
    std::size_t nonzeros = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      for (std::size_t j = 0; j < expected[i].size(); ++j) {
        ASSERT_NEAR(dense[i][j], expected[i][j], 1e-13) << i << ", " << j;
        nonzeros += expected[i][j] != 0.0 ? 1 : 0;
      }
    }
    // Random values do not cancel.
    EXPECT_EQ(found.values.size(), nonzeros);
  }

  std::shared_ptr<SparseAlgebra> algebra_;
};

using BothBackends = ::testing::Types<OnBackend<double, Backend::host>, OnBackend<double, Backend::cuda>>;
TYPED_TEST_SUITE(SparseAlgebraTest, BothBackends, BackendName);

TYPED_TEST(SparseAlgebraTest, MultipliesMatricesOfAllShapes) {
  const auto few = [](LocalIndex i) { return i % 5; };
  const auto with_long_row = [](LocalIndex i) { return i == 3 ? LocalIndex{400} : i % 7; };
  const auto none = [](LocalIndex) { return 0; };
  Random& random = this->random_;
  this->expect_product(random_matrix(random, 100, 70, few), random_matrix(random, 70, 90, few));
  this->expect_product(random_matrix(random, 120, 300, with_long_row),
                       random_matrix(random, 300, 500, with_long_row));
  this->expect_product(random_matrix(random, 1, 50, [](LocalIndex) { return 50; }),
                       random_matrix(random, 50, 40, few));
  this->expect_product(random_matrix(random, 30, 50, none), random_matrix(random, 50, 40, few));
  this->expect_product(random_matrix(random, 30, 50, few), random_matrix(random, 50, 40, none));
  this->expect_product(random_matrix(random, 80, 60, [](LocalIndex) { return 200; }),
                       random_matrix(random, 60, 250, [](LocalIndex) { return 700; }));
}

TYPED_TEST(SparseAlgebraTest, RefusesProductsThatAreTooLarge) {
  const HostCsr a = random_matrix(this->random_, 200, 200, [](LocalIndex) { return 6; });
  const auto on_device = a.on(this->device_);
  const auto c = this->algebra_->product(on_device.view(), on_device.view());
  const Offset entries = c->pattern->nonzeros;
  EXPECT_TRUE(this->algebra_->product(on_device.view(), on_device.view(), entries).has_value());
  EXPECT_FALSE(this->algebra_->product(on_device.view(), on_device.view(), entries - 1).has_value());
}

TYPED_TEST(SparseAlgebraTest, Transposes) {
  for (const LocalIndex columns : {1, 50, 3000}) {
    const HostCsr a = random_matrix(this->random_, 400, columns, [](LocalIndex i) { return i % 9; });
    const HostCsr found = download(this->algebra_->transpose(a.on(this->device_).view()));
    expect_ascending(found);
    ASSERT_EQ(found.rows(), columns);
    ASSERT_EQ(found.columns, 400);
    const Dense dense = a.dense();
    const Dense transposed = found.dense();
    for (std::size_t i = 0; i < dense.size(); ++i) {
      for (std::size_t j = 0; j < dense[i].size(); ++j) ASSERT_EQ(dense[i][j], transposed[j][i]);
    }
    EXPECT_EQ(found.values.size(), a.values.size());
  }
}

TYPED_TEST(SparseAlgebraTest, CountsEntriesOfSampledRows) {
  const HostCsr r = random_matrix(this->random_, 100, 300, [](LocalIndex i) { return i % 40; });
  const HostCsr a = random_matrix(this->random_, 300, 310, [](LocalIndex i) { return i % 9; });
  const HostCsr p = random_matrix(this->random_, 310, 200, [](LocalIndex i) { return i % 3; });
  const Dense rap = product_of(product_of(r.dense(), a.dense(), 310), p.dense(), 200);
  Offset expected = 0;
  for (std::size_t i = 0; i < rap.size(); i += 7) expected += 200 - std::count(rap[i].begin(), rap[i].end(), 0.0);
  const auto on_device = [&](const HostCsr& matrix) { return matrix.on(this->device_); };
  const auto rd = on_device(r);
  const auto ad = on_device(a);
  const auto pd = on_device(p);
  EXPECT_EQ(this->algebra_->entries_of_triple(rd.view(), ad.view(), pd.view(), 7), expected);
  Offset longest = 0;
  for (std::size_t i = 0; i < 100; ++i) longest = std::max(longest, r.offsets[i + 1] - r.offsets[i]);
  EXPECT_EQ(this->algebra_->longest_row(rd.view()), longest);
}

TYPED_TEST(SparseAlgebraTest, FindsNumbers) {
  HostCsr a;
  a.columns = 4;
  for (const auto& [column, value] : std::vector<std::pair<LocalIndex, double>>{{0, 4.0}, {1, -1.0}})
    a.add(column, value);
  a.close_row();
  for (const auto& [column, value] : std::vector<std::pair<LocalIndex, double>>{{0, -1.0}, {1, 0.5}, {3, 2.0}})
    a.add(column, value);
  a.close_row();
  a.close_row();
  a.add(1, 2.0), a.add(3, 8.0);
  a.close_row();
  const auto on_device = a.on(this->device_);
  const MatrixNumbers numbers = this->algebra_->numbers(on_device.view());
  EXPECT_EQ(download(numbers.diagonal), (std::vector<double>{4.0, 0.5, 0.0, 8.0}));
  EXPECT_DOUBLE_EQ(numbers.norm_inf, 10.0);
  EXPECT_DOUBLE_EQ(numbers.scaled_gershgorin, 7.0);
  EXPECT_DOUBLE_EQ(numbers.largest_diagonal, 8.0);
  // Row 1 has 2 beside 0.5: that much cannot be of a semi-definite matrix, but 2 min(1, 2 / 8) is no more. Row 2
  // is empty, as the largest then.
  EXPECT_EQ(download(numbers.jacobi_diagonal()), (std::vector<double>{4.0, 0.5, 8.0, 8.0}));
  EXPECT_EQ(numbers.constant, 0.0);
  const auto shifted = download(this->algebra_->shifted(on_device.view(), on_device.pattern, 0.25));
  EXPECT_EQ(shifted.values, (std::vector<double>{3.75, -1.0, -1.0, 0.25, 2.0, 2.0, 7.75}));
  EXPECT_EQ(download(this->algebra_->to_float(on_device.values)),
            (std::vector<float>{4.0F, -1.0F, -1.0F, 0.5F, 2.0F, 2.0F, 8.0F}));
  EXPECT_EQ(download(this->algebra_->inverse_of(numbers.diagonal, 0.2, 1.0)),
            (std::vector<double>{0.25, 1.0, 1.0, 0.2}));
}

TYPED_TEST(SparseAlgebraTest, KnowsConstantDiagonals) {
  HostCsr a;
  a.columns = 300;
  for (LocalIndex i = 0; i < 300; ++i) a.add(i, 2.5), a.close_row();
  EXPECT_EQ(this->algebra_->numbers(a.on(this->device_).view()).constant, 2.5);
  a.values[299] = 2.0;
  EXPECT_EQ(this->algebra_->numbers(a.on(this->device_).view()).constant, 0.0);
}

TYPED_TEST(SparseAlgebraTest, SettlesEmptyRows) {
  HostCsr a;
  a.columns = 3;
  a.add(0, 1e-18), a.close_row();
  a.add(1, 0.0), a.close_row();
  a.add(0, 1.0), a.add(2, 5.0), a.close_row();
  auto on_device = a.on(this->device_);
  this->algebra_->settle_empty_rows(on_device, 1e-15, 7.0);
  EXPECT_EQ(download(on_device).values, (std::vector<double>{0.0, 7.0, 1.0, 5.0}));
}

TYPED_TEST(SparseAlgebraTest, InvertsWhatIsPositiveDefinite) {
  for (const LocalIndex n : {1, 5, 31, 64, 100, 333}) {
    HostCsr a;
    a.columns = n;
    for (LocalIndex i = 0; i < n; ++i) {
      if (i > 1) a.add(i - 2, -0.5);
      if (i > 0) a.add(i - 1, -1.0);
      a.add(i, 3.01);
      if (i + 1 < n) a.add(i + 1, -1.0);
      if (i + 2 < n) a.add(i + 2, -0.5);
      a.close_row();
    }
    const auto inverse = this->algebra_->inverse(a.on(this->device_).view(), 0.0, 1e-7);
    ASSERT_TRUE(inverse.has_value()) << n;
    const HostCsr found = download(*inverse);
    expect_ascending(found);
    const auto size = static_cast<std::size_t>(n);
    ASSERT_EQ(found.values.size(), size * size);
    const Dense identity = product_of(a.dense(), found.dense(), size);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        ASSERT_NEAR(identity[i][j], i == j ? 1.0 : 0.0, 1e-11) << n;
        ASSERT_EQ(found.values[i * size + j], found.values[j * size + i]);
      }
    }
    // Not what is singular, or indefinite, or has an eigenvalue that is called noise.
    EXPECT_FALSE(this->algebra_->inverse(a.on(this->device_).view(), 10.0, 0.0).has_value());
    a.values.back() = -3.0;
    EXPECT_FALSE(this->algebra_->inverse(a.on(this->device_).view(), 0.0, 1e-7).has_value());
  }
}

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

TYPED_TEST(SparseAlgebraTest, MakesAggregatesByTheRule) {
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

TYPED_TEST(SparseAlgebraTest, TentativeInterpolationRepresentsTheVectors) {
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

TYPED_TEST(SparseAlgebraTest, SmoothsInterpolation) {
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
      download(this->algebra_->smoothed(on_device.view(), numbers.diagonal, t.interpolation.view(), graph, omega));
  expect_ascending(found);
  const Dense tentative = download(t.interpolation).dense();
  const Dense at = product_of(a.dense(), tentative, static_cast<std::size_t>(map.count));
  const Dense p = found.dense();
  const Dense dense = a.dense();
  for (std::size_t i = 0; i < p.size(); ++i) {
    const bool is_hub = hub[i] == static_cast<LocalIndex>(i);
    for (std::size_t j = 0; j < p[i].size(); ++j) {
      const double expected = tentative[i][j] - (is_hub ? 0.0 : omega / dense[i][i] * at[i][j]);
      ASSERT_NEAR(p[i][j], expected, 1e-13);
    }
  }
}

}  // namespace
}  // namespace block_eigs::test
