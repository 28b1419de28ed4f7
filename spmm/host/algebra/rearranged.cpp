#include "spmm/host/algebra/rearranged.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "spmm/host/algebra/collected_rows.hpp"
#include "spmm/host/algebra/made_matrix.hpp"
#include "spmm/host/algebra/parts.hpp"

namespace block_eigs::host {

namespace {

Offset length_of(const CsrView<double>& a, LocalIndex i) { return a.row_offsets[i + 1] - a.row_offsets[i]; }

/// A row that others are added to, which follow one another.
struct RowWithAdded {
  LocalIndex row;
  LocalIndex first;
  LocalIndex last;
};

/// From the row that each of them is added to; these do not descend.
std::vector<RowWithAdded> rows_with_added(const LocalIndex* rows, LocalIndex count) {
  std::vector<RowWithAdded> result;
  for (LocalIndex k = 0; k < count; ++k) {
    if (result.empty() || result.back().row != rows[k]) result.push_back({rows[k], k, k});
    result.back().last = k + 1;
  }
  return result;
}

/// Where in a row its own entries are: others may come before them, and after them.
struct OwnEntries {
  LocalIndex first = 0;
  LocalIndex count = 0;
};

/// The first `below` columns from `own` on come before own ones.
OwnEntries own_entries(const CsrView<double>& a, LocalIndex i, LocalIndex own, LocalIndex below) {
  const LocalIndex* const begin = a.column_indices + a.row_offsets[i];
  const LocalIndex* const end = a.column_indices + a.row_offsets[i + 1];
  const LocalIndex* const first =
      std::partition_point(begin, end, [&](LocalIndex column) { return column >= own && column - own < below; });
  const LocalIndex* const last = first == end || end[-1] < own ? end : std::lower_bound(first, end, own);
  return {static_cast<LocalIndex>(first - begin), static_cast<LocalIndex>(last - first)};
}

}  // namespace

CsrBuffers<double> stacked(const std::shared_ptr<Device>& device, const CsrView<double>& a,
                           const CsrView<double>& b) {
  MadeMatrix made = with_lengths(device, a.rows + b.rows, b.columns, [&](LocalIndex i) {
    return i < a.rows ? length_of(a, i) : length_of(b, i - a.rows);
  });
  const Offset* const offsets = made.pattern->row_offsets.data();
  LocalIndex* const columns = made.pattern->column_indices.data();
  double* const values = made.values.data();
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < a.rows + b.rows; ++i) {
    const CsrView<double>& from = i < a.rows ? a : b;
    const Offset first = from.row_offsets[i < a.rows ? i : i - a.rows];
    const Offset length = offsets[i + 1] - offsets[i];
    std::copy_n(from.column_indices + first, length, columns + offsets[i]);
    std::copy_n(from.values + first, length, values + offsets[i]);
  }
  return std::move(made).buffers();
}

CsrBuffers<double> with_added_rows(const std::shared_ptr<Device>& device, const CsrView<double>& a,
                                   const CsrView<double>& b, const LocalIndex* rows) {
  const std::vector<RowWithAdded> changed = rows_with_added(rows, b.rows);
  const auto row_of = [](const CsrView<double>& from, LocalIndex j) {
    const Offset first = from.row_offsets[j];
    return ScaledRow{1.0, from.column_indices + first, from.values + first, length_of(from, j)};
  };
  const auto sum = [&](LocalIndex c, RowSums<>& sums) {
    const RowWithAdded& at = changed[static_cast<std::size_t>(c)];
    sums.add(row_of(a, at.row));
    sums.add_rows(at.first, at.last, [&](Offset j) { return row_of(b, static_cast<LocalIndex>(j)); });
  };
  const auto count = static_cast<LocalIndex>(changed.size());
  const StoredRows made(device, count, b.columns, GroupWidth<1>{}, sum, ColumnOrder::ascending);
  // Rows that nothing is added to stay as they are.
  Buffer<LocalIndex> place(device, static_cast<std::size_t>(a.rows));  // among those that change, -1 for others
  std::fill_n(place.data(), a.rows, -1);
  for (LocalIndex c = 0; c < count; ++c) place.data()[changed[static_cast<std::size_t>(c)].row] = c;
  MadeMatrix result = with_lengths(device, a.rows, b.columns, [&](LocalIndex i) {
    const LocalIndex c = place.data()[i];
    return c < 0 ? length_of(a, i) : Offset{made.entries(c)};
  });
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < a.rows; ++i) {
    const LocalIndex c = place.data()[i];
    const ScaledRow from = c < 0 ? row_of(a, i) : ScaledRow{1.0, made.columns(c), made.values(c), made.entries(c)};
    std::copy_n(from.columns, from.entries, result.columns_of(i));
    // As sums are: -0.0 becomes 0.0.
    std::transform(from.values, from.values + from.entries, result.values_of(i),
                   [](double value) { return 0.0 + value; });
  }
  return std::move(result).buffers();
}

CsrBuffers<double> with_columns(const std::shared_ptr<Device>& device, const CsrView<double>& a, LocalIndex own,
                                const Buffer<LocalIndex>& places, LocalIndex columns) {
  MadeMatrix made = with_lengths(device, a.rows, columns, [&](LocalIndex i) { return length_of(a, i); });
  LocalIndex* const to = made.pattern->column_indices.data();
#pragma omp parallel for schedule(static)
  for (Offset k = 0; k < made.pattern->nonzeros; ++k) {
    const LocalIndex column = a.column_indices[k];
    to[k] = column < own ? column : places.data()[column - own];
    made.values.data()[k] = a.values[k];
  }
  return std::move(made).buffers();
}

SplitColumns split_columns(const std::shared_ptr<Device>& device, const CsrView<double>& a, LocalIndex own,
                           LocalIndex below) {
  Buffer<OwnEntries> found(device, static_cast<std::size_t>(a.rows));
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < a.rows; ++i) found.data()[i] = own_entries(a, i, own, below);
  const auto entries_of = [&](LocalIndex i) { return found.data()[i]; };
  Buffer<LocalIndex> place(device, static_cast<std::size_t>(a.rows) + 1);  // among rows with other columns
  const LocalIndex with_others = running_sums(
      a.rows, [&](LocalIndex i) { return entries_of(i).count < length_of(a, i) ? 1 : 0; }, place.data());
  SplitColumns result;
  result.rows = Buffer<LocalIndex>(device, static_cast<std::size_t>(with_others));
  LocalIndex* const rows = result.rows.data();
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < a.rows; ++i) {
    if (place.data()[i] < place.data()[i + 1]) rows[place.data()[i]] = i;
  }
  MadeMatrix left = with_lengths(device, a.rows, own, [&](LocalIndex i) { return entries_of(i).count; });
  MadeMatrix right = with_lengths(device, with_others, a.columns - own,
                                  [&](LocalIndex k) { return length_of(a, rows[k]) - entries_of(rows[k]).count; });
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < a.rows; ++i) {
    const OwnEntries mine = entries_of(i);
    const Offset first = a.row_offsets[i] + mine.first;
    const Offset to = left.pattern->row_offsets.data()[i];
    std::copy_n(a.column_indices + first, mine.count, left.pattern->column_indices.data() + to);
    std::copy_n(a.values + first, mine.count, left.values.data() + to);
    if (place.data()[i] == place.data()[i + 1]) continue;
    Offset at = right.pattern->row_offsets.data()[place.data()[i]];
    const auto take = [&](Offset begin, Offset end) {
      for (Offset k = begin; k < end; ++k, ++at) {
        right.pattern->column_indices.data()[at] = a.column_indices[k] - own;
        right.values.data()[at] = a.values[k];
      }
    };
    take(a.row_offsets[i], first);
    take(first + mine.count, a.row_offsets[i + 1]);
  }
  result.own = std::move(left).buffers();
  result.others = std::move(right).buffers();
  return result;
}

}  // namespace block_eigs::host
