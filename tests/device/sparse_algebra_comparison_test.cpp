#include "tests/device/sparse_algebra_test.hpp"

// At sizes that the naive references are too slow for, the GPU is compared with the host backend, which they
// check: bit by bit, as SparseAlgebra promises.
namespace block_eigs::test {
namespace {

struct Backends {
  std::vector<std::shared_ptr<Device>> devices;
  std::vector<std::shared_ptr<SparseAlgebra>> algebras;
};

class SparseAlgebraAgainstHost : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda::device_count() == 0) {
      GTEST_SKIP() << "this machine has no GPU, or this build no CUDA backend: nothing was compared";
    }
    for (const Backend backend : {Backend::host, Backend::cuda}) {
      devices_.push_back(make_device(backend, 0));
      algebras_.push_back(make_sparse_algebra(devices_.back()));
    }
  }

  /// What `make` returns is the same on both, and again.
  template <class Make>
  void expect_same(const Make& make, const std::string& what) {
    const auto host = make(*algebras_[0], devices_[0]);
    for (int time = 0; time < 2; ++time) EXPECT_TRUE(make(*algebras_[1], devices_[1]) == host) << what;
  }

  std::vector<std::shared_ptr<Device>> devices_;
  std::vector<std::shared_ptr<SparseAlgebra>> algebras_;
  Random random_{4711};
};

using Where = const std::shared_ptr<Device>&;

TEST_F(SparseAlgebraAgainstHost, cuda_Products) {
  const HostCsr a = random_matrix(random_, 40'000, 30'000, [](LocalIndex i) { return i == 77 ? 9000 : i % 23; });
  const HostCsr b = random_matrix(random_, 30'000, 35'000, [](LocalIndex i) { return i == 99 ? 20'000 : i % 17; });
  expect_same([&](SparseAlgebra& algebra,
                  Where device) { return download(*algebra.product(a.on(device).view(), b.on(device).view())); },
              "product");
  expect_same(
      [&](SparseAlgebra& algebra, Where device) { return download(algebra.transpose(a.on(device).view())); },
      "transpose");
}

// Whatever of A P is there at a time: all, a few rows, one row.
TEST_F(SparseAlgebraAgainstHost, cuda_GalerkinProductsInSlabs) {
  constexpr LocalIndex fine = 6'000;
  const HostCsr a = random_matrix(random_, fine, fine, [](LocalIndex i) { return i == 77 ? 3000 : i % 9; });
  const HostCsr p = random_matrix(random_, fine, 900, [](LocalIndex i) { return i % 4; });
  for (const std::size_t bytes : {std::size_t{1} << 40, std::size_t{400'000}, std::size_t{5'000}}) {
    expect_same(
        [&](SparseAlgebra& algebra, Where device) {
          const auto on_device = p.on(device);
          const auto r = algebra.transpose(on_device.view());
          const auto matrix = a.on(device);
          algebra.limit_galerkin(bytes);
          const auto product = algebra.galerkin(r.view(), matrix.view(), on_device.view());
          const auto most = product->pattern->nonzeros;
          return std::make_tuple(
              download(*product), algebra.galerkin(r.view(), matrix.view(), on_device.view(), most).has_value(),
              algebra.galerkin(r.view(), matrix.view(), on_device.view(), most - 1).has_value());
        },
        "R (A P) with " + std::to_string(bytes) + " bytes for A P");
  }
}

TEST_F(SparseAlgebraAgainstHost, cuda_Aggregation) {
  for (const LocalIndex unknowns : {1, 2, 3, 6}) {
    for (const LocalIndex hubs : {0, 3}) {
      const HostCsr a = graph_laplacian(random_, unknowns == 1 ? 60'000 : 27'000 / unknowns, 8, hubs, unknowns);
      const double hub_entries = 10.0 * static_cast<double>(a.values.size()) / a.rows();
      const int modes = unknowns < 3 ? unknowns : 6;
      std::vector<double> vectors(static_cast<std::size_t>(a.rows()) * static_cast<std::size_t>(modes));
      std::uniform_real_distribution<double> uniform(0.5, 1.5);
      for (double& value : vectors) value = uniform(random_);
      expect_same(
          [&](SparseAlgebra& algebra, Where device) {
            const CouplingGraph graph = algebra.couplings(a.on(device).view(), unknowns, 0.05, hub_entries);
            return std::make_pair(download(graph.neighbours), download(graph.hub));
          },
          "couplings");
      expect_same(
          [&](SparseAlgebra& algebra, Where device) {
            const auto on_device = a.on(device);
            const CouplingGraph graph = algebra.couplings(on_device.view(), unknowns, 0.05, hub_entries);
            const CsrBuffers<double> filtered = algebra.filtered(on_device.view(), unknowns, graph.strength);
            return std::make_pair(graph.weak, download(filtered));
          },
          "filtered matrix");
      expect_same(
          [&](SparseAlgebra& algebra, Where device) {
            const auto on_device = a.on(device);
            return download(
                algebra.aggregate(algebra.couplings(on_device.view(), unknowns, 0.05, hub_entries)).of_node);
          },
          "aggregates");
      expect_same(
          [&](SparseAlgebra& algebra, Where device) {
            const auto on_device = a.on(device);
            const CouplingGraph graph = algebra.couplings(on_device.view(), unknowns, 0.05, hub_entries);
            const auto t = algebra.tentative(algebra.aggregate(graph), unknowns, upload(device, vectors), modes);
            const MatrixNumbers numbers = algebra.numbers(on_device.view());
            const auto p = algebra.smoothed(on_device.view(), numbers, t.interpolation.view(), graph, 0.7);
            return std::make_tuple(download(t.interpolation), download(t.coarse), download(p),
                                   numbers.scaled_gershgorin, numbers.norm_inf,
                                   download(numbers.jacobi_diagonal()), numbers.jacobi_bound,
                                   download(numbers.damped), numbers.damped_bound, numbers.interpolation_bound,
                                   numbers.typical_row_sum);
          },
          "interpolation");
    }
  }
}

}  // namespace
}  // namespace block_eigs::test
