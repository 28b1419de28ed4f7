#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "spmm/cuda/runtime/cuda_device.hpp"
#include "spmm/device/sparse_algebra.hpp"

namespace block_eigs::cuda {

// Of SparseAlgebra, which says what they do. Queued in Queue::compute.
using Gpu = std::shared_ptr<CudaDevice>;

std::optional<CsrBuffers<double>> product(const Gpu& gpu, const CsrView<double>& a, const CsrView<double>& b,
                                          Offset most_entries);
/// R (A P), with `room` bytes for A P, or what is left of the device's memory.
std::optional<CsrBuffers<double>> galerkin(const Gpu& gpu, const CsrView<double>& r, const CsrView<double>& a,
                                           const CsrView<double>& p, Offset most_entries,
                                           std::optional<std::size_t> room);
CsrBuffers<double> smoothed(const Gpu& gpu, const CsrView<double>& a, const MatrixNumbers& numbers,
                            const CsrView<double>& t, const Buffer<LocalIndex>& hub, double omega);
/// Squared Frobenius norms of the blocks of A of `unknowns` rows and columns.
CsrBuffers<double> squared_norms(const Gpu& gpu, const CsrView<double>& a, int unknowns);

CsrBuffers<double> transpose(const Gpu& gpu, const CsrView<double>& a);
Offset entries_of_triple(const Gpu& gpu, const CsrView<double>& r, const CsrView<double>& a,
                         const CsrView<double>& p, LocalIndex stride);
Offset longest_row(const Gpu& gpu, const CsrView<double>& a);
CsrBuffers<double> stacked(const Gpu& gpu, const CsrView<double>& a, const CsrView<double>& b);
CsrBuffers<double> with_added_rows(const Gpu& gpu, const CsrView<double>& a, const CsrView<double>& b,
                                   const LocalIndex* rows);
CsrBuffers<double> with_columns(const Gpu& gpu, const CsrView<double>& a, LocalIndex own,
                                const Buffer<LocalIndex>& places, LocalIndex columns);
SplitColumns split_columns(const Gpu& gpu, const CsrView<double>& a, LocalIndex own, LocalIndex below);
CsrBuffers<double> shifted(const Gpu& gpu, const CsrView<double>& a, std::shared_ptr<const CsrPattern> pattern,
                           double shift);
Buffer<float> to_float(const Gpu& gpu, const Buffer<double>& values);

MatrixNumbers numbers(const Gpu& gpu, const CsrView<double>& a, Neighbourhood& ranks);
Buffer<double> inverse_of(const Gpu& gpu, const Buffer<double>& diagonal, double smallest, double largest);
void settle_empty_rows(const Gpu& gpu, const CsrView<double>& a, double* values, double noise, double replacement);
std::optional<CsrBuffers<double>> inverse(const Gpu& gpu, const CsrView<double>& a, double noise,
                                          double relative_noise);

CouplingGraph couplings(const Gpu& gpu, const CsrView<double>& a, int unknowns, double threshold,
                        double hub_entries, Neighbourhood& ranks);
CsrBuffers<double> filtered(const Gpu& gpu, const CsrView<double>& a, int unknowns,
                            const CouplingStrength& strength);
AggregateMap aggregate(const Gpu& gpu, const CouplingGraph& graph, Neighbourhood& ranks);
TentativeInterpolation tentative(const Gpu& gpu, const AggregateMap& aggregates, int unknowns,
                                 const double* vectors, int modes);

}  // namespace block_eigs::cuda
