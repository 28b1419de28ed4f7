#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "spmm/cuda/algebra/operations.hpp"

namespace block_eigs::cuda {

/// Set-up on one GPU. What each operation does is told in SparseAlgebra; here it is only handed on.
class CudaSparseAlgebra final : public SparseAlgebra {
 public:
  explicit CudaSparseAlgebra(std::shared_ptr<CudaDevice> device) : gpu_(std::move(device)) {}

  std::optional<CsrBuffers<double>> product(const CsrView<double>& a, const CsrView<double>& b,
                                            Offset most_entries) override {
    return cuda::product(gpu_, a, b, most_entries);
  }
  std::optional<CsrBuffers<double>> galerkin(const CsrView<double>& r, const CsrView<double>& a,
                                             const CsrView<double>& p, Offset most_entries) override {
    return cuda::galerkin(gpu_, r, a, p, most_entries, galerkin_limit_);
  }
  void limit_galerkin(std::size_t bytes) override { galerkin_limit_ = bytes; }
  CsrBuffers<double> transpose(const CsrView<double>& a) override { return cuda::transpose(gpu_, a); }
  Offset entries_of_triple(const CsrView<double>& r, const CsrView<double>& a, const CsrView<double>& p,
                           LocalIndex stride) override {
    return cuda::entries_of_triple(gpu_, r, a, p, stride);
  }
  Offset longest_row(const CsrView<double>& a) override { return cuda::longest_row(gpu_, a); }
  CsrBuffers<double> stacked(const CsrView<double>& a, const CsrView<double>& b) override {
    return cuda::stacked(gpu_, a, b);
  }
  CsrBuffers<double> with_added_rows(const CsrView<double>& a, const CsrView<double>& b,
                                     const LocalIndex* rows) override {
    return cuda::with_added_rows(gpu_, a, b, rows);
  }
  CsrBuffers<double> with_columns(const CsrView<double>& a, LocalIndex own, const Buffer<LocalIndex>& places,
                                  LocalIndex columns) override {
    return cuda::with_columns(gpu_, a, own, places, columns);
  }
  SplitColumns split_columns(const CsrView<double>& a, LocalIndex own, LocalIndex below) override {
    return cuda::split_columns(gpu_, a, own, below);
  }
  CsrBuffers<double> shifted(const CsrView<double>& a, std::shared_ptr<const CsrPattern> pattern,
                             double shift) override {
    return cuda::shifted(gpu_, a, std::move(pattern), shift);
  }
  Buffer<float> to_float(const Buffer<double>& values) override { return cuda::to_float(gpu_, values); }

  MatrixNumbers numbers(const CsrView<double>& a, Neighbourhood& ranks) override {
    return cuda::numbers(gpu_, a, ranks);
  }
  Buffer<double> inverse_of(const Buffer<double>& diagonal, double smallest, double largest) override {
    return cuda::inverse_of(gpu_, diagonal, smallest, largest);
  }
  void settle_empty_rows(CsrBuffers<double>& a, double noise, double replacement) override {
    cuda::settle_empty_rows(gpu_, a.view(), a.values.data(), noise, replacement);
  }
  std::optional<CsrBuffers<double>> inverse(const CsrView<double>& a, double noise,
                                            double relative_noise) override {
    return cuda::inverse(gpu_, a, noise, relative_noise);
  }

  CouplingGraph couplings(const CsrView<double>& a, int unknowns, double threshold, double hub_entries,
                          Neighbourhood& ranks) override {
    return cuda::couplings(gpu_, a, unknowns, threshold, hub_entries, ranks);
  }
  AggregateMap aggregate(const CouplingGraph& graph, Neighbourhood& ranks) override {
    return cuda::aggregate(gpu_, graph, ranks);
  }
  TentativeInterpolation tentative(const AggregateMap& aggregates, int unknowns, const Buffer<double>& vectors,
                                   int modes) override {
    return cuda::tentative(gpu_, aggregates, unknowns, vectors.data(), modes);
  }
  CsrBuffers<double> filtered(const CsrView<double>& a, int unknowns, const CouplingStrength& strength) override {
    return cuda::filtered(gpu_, a, unknowns, strength);
  }
  CsrBuffers<double> smoothed(const CsrView<double>& a, const MatrixNumbers& numbers, const CsrView<double>& t,
                              const CouplingGraph& graph, double omega) override {
    return cuda::smoothed(gpu_, a, numbers, t, graph.hub, omega);
  }

 private:
  std::shared_ptr<CudaDevice> gpu_;
  std::optional<std::size_t> galerkin_limit_;
};

}  // namespace block_eigs::cuda
