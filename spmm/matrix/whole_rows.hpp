#pragma once

#include <memory>
#include <optional>

#include "spmm/device/csr_buffers.hpp"
#include "spmm/matrix/csr_rows.hpp"

namespace block_eigs {

/// All of `rows`, columns [0, columns), in memory of the device. Column numbers are narrowed and looked at on the
/// way there, so that there is no copy in host memory. Nothing where row offsets decrease, or columns are out of
/// range or out of order. Not collective; throws RunError where memory runs out.
std::optional<CsrBuffers<double>> upload_whole(const std::shared_ptr<Device>& device, const CsrRows& rows,
                                               LocalIndex columns);

}  // namespace block_eigs
