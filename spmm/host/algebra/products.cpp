#include "spmm/host/algebra/products.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "spmm/host/algebra/row_sums.hpp"

namespace block_eigs::host {

namespace {

/// sums += factor times row j of b.
void add_row(RowSums& sums, double factor, const CsrView<double>& b, LocalIndex j) {
  for (Offset k = b.row_offsets[j]; k < b.row_offsets[j + 1]; ++k)
    sums.add(b.column_indices[k], factor * b.values[k]);
}

}  // namespace

CsrBuffers<double> product(const std::shared_ptr<Device>& device, const CsrView<double>& a,
                           const CsrView<double>& b) {
  return collect_rows(device, a.rows, b.columns, [&](LocalIndex i, RowSums& sums) {
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
      add_row(sums, a.values[k], b, a.column_indices[k]);
  });
}

CsrBuffers<double> transpose(const std::shared_ptr<Device>& device, const CsrView<double>& a) {
  auto pattern = std::make_shared<CsrPattern>();
  pattern->rows = a.columns;
  pattern->columns = a.rows;
  pattern->nonzeros = a.nonzeros;
  pattern->row_offsets = Buffer<Offset>(device, static_cast<std::size_t>(a.columns) + 1);
  pattern->column_indices = Buffer<LocalIndex>(device, static_cast<std::size_t>(a.nonzeros));
  Buffer<double> values(device, static_cast<std::size_t>(a.nonzeros));
  Offset* offsets = pattern->row_offsets.data();
  std::fill_n(offsets, a.columns + 1, Offset{0});
  for (Offset k = 0; k < a.nonzeros; ++k) ++offsets[a.column_indices[k] + 1];
  for (LocalIndex c = 0; c < a.columns; ++c) offsets[c + 1] += offsets[c];
  std::vector<Offset> next(offsets, offsets + a.columns);
  for (LocalIndex i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
      const Offset at = next[static_cast<std::size_t>(a.column_indices[k])]++;
      pattern->column_indices.data()[at] = i;
      values.data()[at] = a.values[k];
    }
  }
  return {std::move(pattern), std::move(values)};
}

Offset entries_of_triple(const CsrView<double>& r, const CsrView<double>& a, const CsrView<double>& p,
                         LocalIndex stride) {
  Offset entries = 0;
  std::vector<LocalIndex> seen_by(static_cast<std::size_t>(p.columns), -1);
  for (LocalIndex row = 0; row < r.rows; row += stride) {
    for (Offset i = r.row_offsets[row]; i < r.row_offsets[row + 1]; ++i) {
      const LocalIndex middle = r.column_indices[i];
      for (Offset j = a.row_offsets[middle]; j < a.row_offsets[middle + 1]; ++j) {
        const LocalIndex from = a.column_indices[j];
        for (Offset k = p.row_offsets[from]; k < p.row_offsets[from + 1]; ++k) {
          LocalIndex& seen = seen_by[static_cast<std::size_t>(p.column_indices[k])];
          if (seen != row) ++entries;
          seen = row;
        }
      }
    }
  }
  return entries;
}

CsrBuffers<double> smoothed(const std::shared_ptr<Device>& device, const CsrView<double>& a,
                            const MatrixNumbers& numbers, const CsrView<double>& t, const Buffer<LocalIndex>& hub,
                            double omega) {
  const auto nodes = static_cast<LocalIndex>(hub.size());
  const LocalIndex unknowns = nodes > 0 ? a.rows / nodes : 1;
  return collect_rows(device, a.rows, t.columns, [&](LocalIndex i, RowSums& sums) {
    add_row(sums, 1.0, t, i);
    const LocalIndex node = i / unknowns;
    if (hub.data()[node] == node) return;
    const double sum = numbers.row_sums.data()[i];
    if (sum == 0.0) return;
    const double scale = -omega / std::max(std::abs(numbers.diagonal.data()[i]), 0.5 * sum);
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
      add_row(sums, scale * a.values[k], t, a.column_indices[k]);
  });
}

}  // namespace block_eigs::host
