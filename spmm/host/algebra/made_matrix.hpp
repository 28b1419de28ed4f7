#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "spmm/device/csr_buffers.hpp"
#include "spmm/host/algebra/parts.hpp"

namespace block_eigs::host {

/// A matrix whose rows are known in length and still to be written.
struct MadeMatrix {
  std::shared_ptr<CsrPattern> pattern = std::make_shared<CsrPattern>();
  Buffer<double> values{};

  LocalIndex* columns_of(LocalIndex row) { return pattern->column_indices.data() + begin(row); }
  double* values_of(LocalIndex row) { return values.data() + begin(row); }
  Offset begin(LocalIndex row) const { return pattern->row_offsets.data()[row]; }
  CsrBuffers<double> buffers() && { return {std::move(pattern), std::move(values)}; }
};

/// With rows of length(i), columns and values undefined. `length` is asked twice.
template <class Length>
MadeMatrix with_lengths(const std::shared_ptr<Device>& device, LocalIndex rows, LocalIndex columns,
                        const Length& length) {
  MadeMatrix made;
  CsrPattern& pattern = *made.pattern;
  pattern.rows = rows;
  pattern.columns = columns;
  pattern.row_offsets = Buffer<Offset>(device, static_cast<std::size_t>(rows) + 1);
  pattern.nonzeros = running_sums(rows, length, pattern.row_offsets.data());
  pattern.column_indices = Buffer<LocalIndex>(device, static_cast<std::size_t>(pattern.nonzeros));
  made.values = Buffer<double>(device, static_cast<std::size_t>(pattern.nonzeros));
  return made;
}

}  // namespace block_eigs::host
