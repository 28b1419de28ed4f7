#pragma once

#include <memory>
#include <optional>

#include "spmm/device/sparse_algebra.hpp"

namespace block_eigs::host {

// Of SparseAlgebra, which says what they do.

MatrixNumbers numbers(const std::shared_ptr<Device>& device, const CsrView<double>& a, Neighbourhood& ranks);
void settle_empty_rows(const CsrView<double>& a, double* values, double noise, double replacement);
std::optional<CsrBuffers<double>> inverse(const std::shared_ptr<Device>& device, const CsrView<double>& a,
                                          double noise, double relative_noise);

}  // namespace block_eigs::host
