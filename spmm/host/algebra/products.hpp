#pragma once

#include <memory>

#include "spmm/device/sparse_algebra.hpp"

namespace block_eigs::host {

// Of SparseAlgebra, which says what they do.

CsrBuffers<double> product(const std::shared_ptr<Device>& device, const CsrView<double>& a,
                           const CsrView<double>& b);
CsrBuffers<double> transpose(const std::shared_ptr<Device>& device, const CsrView<double>& a);
Offset entries_of_triple(const CsrView<double>& r, const CsrView<double>& a, const CsrView<double>& p,
                         LocalIndex stride);
CsrBuffers<double> smoothed(const std::shared_ptr<Device>& device, const CsrView<double>& a,
                            const MatrixNumbers& numbers, const CsrView<double>& t, const Buffer<LocalIndex>& hub,
                            double omega);

}  // namespace block_eigs::host
