#include "spmm/host/algebra/products.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "spmm/host/algebra/collected_rows.hpp"

namespace block_eigs::host {

namespace {

/// `factor` times row j of b.
ScaledRow scaled_row(double factor, const CsrView<double>& b, LocalIndex j) {
  const Offset begin = b.row_offsets[j];
  return {factor, b.column_indices + begin, b.values + begin, b.row_offsets[j + 1] - begin};
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

/// Makes rows of A B.
struct RowOfProduct {
  CsrView<double> a;
  CsrView<double> b;

  template <int Width>
  void operator()(LocalIndex i, RowSums<Width>& sums) const {
    sums.add_rows(a.row_offsets[i], a.row_offsets[i + 1],
                  [&](Offset k) { return scaled_row(a.values[k], b, a.column_indices[k]); });
  }
};

template <int Width>
std::optional<CsrBuffers<double>> galerkin_of(const std::shared_ptr<Device>& device, const CsrView<double>& r,
                                              const CsrView<double>& a, const CsrView<double>& p,
                                              GroupWidth<Width> width, Offset most_entries) {
  // Sums of R (A P) are the same for any order of the columns in the rows of A P.
  const StoredRows ap(device, a.rows, p.columns, width, RowOfProduct{a, p}, ColumnOrder::as_they_came);
  // Rows of A P lie far apart, and are too short for the processor to find the next one by itself.
  constexpr Offset rows_ahead = 8;
  const auto fetch = [&](LocalIndex i) {
    __builtin_prefetch(ap.values(i));
    __builtin_prefetch(ap.columns(i));
  };
  const auto row = [&](LocalIndex c, RowSums<Width>& sums) {
    sums.add_rows(r.row_offsets[c], r.row_offsets[c + 1], [&](Offset k) {
      fetch(r.column_indices[std::min(k + rows_ahead, r.nonzeros - 1)]);
      const LocalIndex i = r.column_indices[k];
      return ScaledRow{r.values[k], ap.columns(i), ap.values(i), ap.entries(i)};
    });
  };
  return collect_rows(device, r.rows, p.columns, width, row, most_entries);
}

}  // namespace

std::optional<CsrBuffers<double>> product(const std::shared_ptr<Device>& device, const CsrView<double>& a,
                                          const CsrView<double>& b, Offset most_entries) {
  return with_group_width(b, [&](auto width) {
    return collect_rows(device, a.rows, b.columns, width, RowOfProduct{a, b}, most_entries);
  });
}

std::optional<CsrBuffers<double>> galerkin(const std::shared_ptr<Device>& device, const CsrView<double>& r,
                                           const CsrView<double>& a, const CsrView<double>& p,
                                           Offset most_entries) {
  return with_group_width(p, [&](auto width) { return galerkin_of(device, r, a, p, width, most_entries); });
}

CsrBuffers<double> transpose(const std::shared_ptr<Device>& device, const CsrView<double>& a) {
  auto pattern = std::make_shared<CsrPattern>();
  pattern->rows = a.columns;
  pattern->columns = a.rows;
  pattern->nonzeros = a.nonzeros;
  pattern->row_offsets = Buffer<Offset>(device, static_cast<std::size_t>(a.columns) + 1);
  pattern->column_indices = Buffer<LocalIndex>(device, static_cast<std::size_t>(a.nonzeros));
  Buffer<double> values(device, static_cast<std::size_t>(a.nonzeros));
  LocalIndex* const rows = pattern->column_indices.data();
  double* const numbers = values.data();
  const auto columns_of_row = [&](LocalIndex i, const auto& visit) {
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) visit(k, a.column_indices[k]);
  };
  sort_by_key(a.rows, a.columns, a.nonzeros, pattern->row_offsets.data(), columns_of_row,
              [&](Offset at, LocalIndex i, Offset k) {
                rows[at] = i;
                numbers[at] = a.values[k];
              });
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
  const auto row = [&](LocalIndex i, auto& sums) {
    sums.add(scaled_row(1.0, t, i));
    const LocalIndex node = i / unknowns;
    if (hub.data()[node] == node) return;
    const double sum = numbers.row_sums.data()[i];
    if (sum == 0.0) return;
    const double scale = -omega / std::max(std::abs(numbers.diagonal.data()[i]), 0.5 * sum);
    sums.add_rows(a.row_offsets[i], a.row_offsets[i + 1],
                  [&](Offset k) { return scaled_row(scale * a.values[k], t, a.column_indices[k]); });
  };
  return with_group_width(t, [&](auto width) { return *collect_rows(device, a.rows, t.columns, width, row); });
}

}  // namespace block_eigs::host
