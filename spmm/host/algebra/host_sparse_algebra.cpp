#include <algorithm>
#include <cmath>
#include <utility>

#include "spmm/host/algebra/aggregation.hpp"
#include "spmm/host/algebra/numbers.hpp"
#include "spmm/host/algebra/parts.hpp"
#include "spmm/host/algebra/products.hpp"
#include "spmm/host/algebra/rearranged.hpp"
#include "spmm/host/runtime/host_backend.hpp"

namespace block_eigs::host {

namespace {

class HostSparseAlgebra final : public SparseAlgebra {
 public:
  explicit HostSparseAlgebra(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  std::optional<CsrBuffers<double>> product(const CsrView<double>& a, const CsrView<double>& b,
                                            Offset most_entries) override {
    return host::product(device_, a, b, most_entries);
  }
  std::optional<CsrBuffers<double>> galerkin(const CsrView<double>& r, const CsrView<double>& a,
                                             const CsrView<double>& p, Offset most_entries) override {
    return host::galerkin(device_, r, a, p, most_entries);
  }
  CsrBuffers<double> transpose(const CsrView<double>& a) override { return host::transpose(device_, a); }
  Offset entries_of_triple(const CsrView<double>& r, const CsrView<double>& a, const CsrView<double>& p,
                           LocalIndex stride) override {
    return host::entries_of_triple(r, a, p, stride);
  }
  Offset longest_row(const CsrView<double>& a) override {
    Offset longest = 0;
#pragma omp parallel for schedule(static) reduction(max : longest)
    for (LocalIndex i = 0; i < a.rows; ++i) longest = std::max(longest, a.row_offsets[i + 1] - a.row_offsets[i]);
    return longest;
  }
  CsrBuffers<double> shifted(const CsrView<double>& a, std::shared_ptr<const CsrPattern> pattern,
                             double shift) override {
    CsrBuffers<double> result{std::move(pattern), Buffer<double>(device_, static_cast<std::size_t>(a.nonzeros))};
    for_parts(a.rows, [&](LocalIndex begin, LocalIndex end) {
      for (LocalIndex i = begin; i < end; ++i) {
        for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
          result.values.data()[k] = a.column_indices[k] == i ? a.values[k] - shift : a.values[k];
      }
    });
    return result;
  }
  Buffer<float> to_float(const Buffer<double>& values) override {
    Buffer<float> result(device_, values.size());
    float* const to = result.data();
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < values.size(); ++k) to[k] = static_cast<float>(values.data()[k]);
    return result;
  }

  CsrBuffers<double> stacked(const CsrView<double>& a, const CsrView<double>& b) override {
    return host::stacked(device_, a, b);
  }
  CsrBuffers<double> with_added_rows(const CsrView<double>& a, const CsrView<double>& b,
                                     const LocalIndex* rows) override {
    return host::with_added_rows(device_, a, b, rows);
  }
  CsrBuffers<double> with_columns(const CsrView<double>& a, LocalIndex own, const Buffer<LocalIndex>& places,
                                  LocalIndex columns) override {
    return host::with_columns(device_, a, own, places, columns);
  }
  SplitColumns split_columns(const CsrView<double>& a, LocalIndex own, LocalIndex below) override {
    return host::split_columns(device_, a, own, below);
  }

  MatrixNumbers numbers(const CsrView<double>& a, Neighbourhood& ranks) override {
    return host::numbers(device_, a, ranks);
  }
  Buffer<double> inverse_of(const Buffer<double>& diagonal, double smallest, double largest) override {
    Buffer<double> result(device_, diagonal.size());
    const double* const from = diagonal.data();
    double* const to = result.data();
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < diagonal.size(); ++i)
      to[i] = from[i] != 0.0 ? std::clamp(1.0 / std::abs(from[i]), smallest, largest) : 1.0;
    return result;
  }
  void settle_empty_rows(CsrBuffers<double>& a, double noise, double replacement) override {
    host::settle_empty_rows(a.view(), a.values.data(), noise, replacement);
  }
  std::optional<CsrBuffers<double>> inverse(const CsrView<double>& a, double noise,
                                            double relative_noise) override {
    return host::inverse(device_, a, noise, relative_noise);
  }

  CouplingGraph couplings(const CsrView<double>& a, int unknowns, double threshold, double hub_entries,
                          Neighbourhood& ranks) override {
    return host::couplings(device_, a, unknowns, threshold, hub_entries, ranks);
  }
  AggregateMap aggregate(const CouplingGraph& graph, Neighbourhood& ranks) override {
    return host::aggregate(device_, graph, ranks);
  }
  TentativeInterpolation tentative(const AggregateMap& aggregates, int unknowns, const Buffer<double>& vectors,
                                   int modes) override {
    return host::tentative(device_, aggregates, unknowns, vectors.data(), modes);
  }
  CsrBuffers<double> filtered(const CsrView<double>& a, int unknowns, const CouplingStrength& strength) override {
    return host::filtered(device_, a, unknowns, strength);
  }
  CsrBuffers<double> smoothed(const CsrView<double>& a, const MatrixNumbers& numbers, const CsrView<double>& t,
                              const CouplingGraph& graph, double omega) override {
    return host::smoothed(device_, a, numbers, t, graph.hub, omega);
  }

 private:
  std::shared_ptr<Device> device_;
};

}  // namespace

std::shared_ptr<SparseAlgebra> make_sparse_algebra(std::shared_ptr<Device> device) {
  return std::make_shared<HostSparseAlgebra>(std::move(device));
}

}  // namespace block_eigs::host
