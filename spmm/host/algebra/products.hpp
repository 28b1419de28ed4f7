#pragma once

#include <memory>
#include <optional>

#include "spmm/device/sparse_algebra.hpp"

namespace block_eigs::host {

// Of SparseAlgebra, which says what they do.

std::optional<CsrBuffers<double>> product(const std::shared_ptr<Device>& device, const CsrView<double>& a,
                                          const CsrView<double>& b, Offset most_entries);
std::optional<CsrBuffers<double>> galerkin(const std::shared_ptr<Device>& device, const CsrView<double>& r,
                                           const CsrView<double>& a, const CsrView<double>& p,
                                           Offset most_entries);
CsrBuffers<double> transpose(const std::shared_ptr<Device>& device, const CsrView<double>& a);
Offset entries_of_triple(const CsrView<double>& r, const CsrView<double>& a, const CsrView<double>& p,
                         LocalIndex stride);
CsrBuffers<double> smoothed(const std::shared_ptr<Device>& device, const CsrView<double>& a,
                            const MatrixNumbers& numbers, const CsrView<double>& t, const Buffer<LocalIndex>& hub,
                            double omega);

}  // namespace block_eigs::host
