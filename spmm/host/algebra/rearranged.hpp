#pragma once

#include <memory>

#include "spmm/device/sparse_algebra.hpp"

namespace block_eigs::host {

// Of SparseAlgebra, which says what they do.

CsrBuffers<double> stacked(const std::shared_ptr<Device>& device, const CsrView<double>& a,
                           const CsrView<double>& b);
CsrBuffers<double> with_added_rows(const std::shared_ptr<Device>& device, const CsrView<double>& a,
                                   const CsrView<double>& b, const LocalIndex* rows);
CsrBuffers<double> with_columns(const std::shared_ptr<Device>& device, const CsrView<double>& a, LocalIndex own,
                                const Buffer<LocalIndex>& places, LocalIndex columns);
SplitColumns split_columns(const std::shared_ptr<Device>& device, const CsrView<double>& a, LocalIndex own,
                           LocalIndex below);

}  // namespace block_eigs::host
