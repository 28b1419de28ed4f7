#include "spmm/host/algebra/products.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
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

/// Where the entries of a matrix go when it is transposed by several threads, each with consecutive rows.
struct Places {
  int parts = 1;
  std::unique_ptr<LocalIndex[]> before;  ///< [part][column]: how many entries of the column earlier parts have
};

/// Sets the offsets of A^T, too. Counters take no more than A's entries do.
Places places_of(const CsrView<double>& a, Offset* offsets) {
  Places places;
  const auto most = static_cast<int>(std::min<Offset>(threads(), a.nonzeros / std::max<Offset>(a.columns, 1)));
  places.parts = std::max(1, most);
  const auto columns = static_cast<std::size_t>(a.columns);
  places.before = std::make_unique_for_overwrite<LocalIndex[]>(static_cast<std::size_t>(places.parts) * columns);
  LocalIndex* const before = places.before.get();
#pragma omp parallel for schedule(static, 1) num_threads(places.parts)
  for (int part = 0; part < places.parts; ++part) {
    LocalIndex* const counts = before + static_cast<std::size_t>(part) * columns;
    std::fill_n(counts, columns, 0);
    const Range own = part_of(a.rows, part, places.parts);
    for (Offset k = a.row_offsets[own.begin]; k < a.row_offsets[own.end]; ++k) ++counts[a.column_indices[k]];
  }
#pragma omp parallel for schedule(static)
  for (std::size_t c = 0; c < columns; ++c) {
    LocalIndex sum = 0;
    for (int part = 0; part < places.parts; ++part) {
      LocalIndex& count = before[static_cast<std::size_t>(part) * columns + c];
      sum += std::exchange(count, sum);
    }
    offsets[c + 1] = sum;
  }
  offsets[0] = 0;
  for (std::size_t c = 0; c < columns; ++c) offsets[c + 1] += offsets[c];
  return places;
}

/// Columns that a row of R A P has entries in. `seen_by` holds no number of this row yet.
Offset entries_of_row(const CsrView<double>& r, const CsrView<double>& a, const CsrView<double>& p, LocalIndex row,
                      std::vector<LocalIndex>& seen_by) {
  Offset entries = 0;
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
  return entries;
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
  const Places places = places_of(a, pattern->row_offsets.data());
  LocalIndex* const rows = pattern->column_indices.data();
  double* const numbers = values.data();
#pragma omp parallel for schedule(static, 1) num_threads(places.parts)
  for (int part = 0; part < places.parts; ++part) {
    LocalIndex* const taken = places.before.get() + static_cast<std::size_t>(part) * a.columns;
    const Range own = part_of(a.rows, part, places.parts);
    for (auto i = static_cast<LocalIndex>(own.begin); i < own.end; ++i) {
      for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
        const LocalIndex c = a.column_indices[k];
        const Offset at = pattern->row_offsets.data()[c] + taken[c]++;
        rows[at] = i;
        numbers[at] = a.values[k];
      }
    }
  }
  return {std::move(pattern), std::move(values)};
}

Offset entries_of_triple(const CsrView<double>& r, const CsrView<double>& a, const CsrView<double>& p,
                         LocalIndex stride) {
  std::atomic<Offset> entries = 0;
  for_parts((r.rows + stride - 1) / stride, [&](LocalIndex begin, LocalIndex end) {
    if (begin == end) return;
    std::vector<LocalIndex> seen_by(static_cast<std::size_t>(p.columns), -1);
    Offset own = 0;
    for (LocalIndex sample = begin; sample < end; ++sample)
      own += entries_of_row(r, a, p, sample * stride, seen_by);
    entries += own;
  });
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
