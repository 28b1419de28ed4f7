#include "spmm/matrix/copied_entries.hpp"

#include <algorithm>

namespace block_eigs {

namespace {

template <class V>
std::vector<V> copied(Device& device, const V* from, std::size_t count) {
  std::vector<V> result(count);
  if (count == 0) return result;
  device.copy_to_host(result.data(), from, count * sizeof(V), Queue::compute);
  device.synchronize(Queue::compute);
  return result;
}

/// Rows [first, first + count) of `part`; `row_of` and `column_of` say what its numbers stand for.
template <class T, class Row, class Column>
void append(Device& device, const CsrView<T>& part, LocalIndex first, LocalIndex count, const Row& row_of,
            const Column& column_of, MatrixEntries& entries) {
  if (count <= 0) return;
  const std::vector<Offset> offsets =
      copied(device, part.row_offsets + first, static_cast<std::size_t>(count) + 1);
  const auto nonzeros = static_cast<std::size_t>(offsets.back() - offsets.front());
  const std::vector<LocalIndex> columns = copied(device, part.column_indices + offsets.front(), nonzeros);
  const std::vector<T> values = copied(device, part.values + offsets.front(), nonzeros);
  entries.rows.reserve(entries.size() + nonzeros);
  entries.columns.reserve(entries.size() + nonzeros);
  entries.values.reserve(entries.size() + nonzeros);
  for (LocalIndex i = 0; i < count; ++i) {
    const Offset end = offsets[static_cast<std::size_t>(i) + 1];
    for (Offset k = offsets[static_cast<std::size_t>(i)]; k < end; ++k) {
      const auto at = static_cast<std::size_t>(k - offsets.front());
      entries.rows.push_back(row_of(first + i));
      entries.columns.push_back(column_of(columns[at]));
      entries.values.push_back(static_cast<double>(values[at]));
    }
  }
}

}  // namespace

template <class T>
MatrixEntries copied_entries(const DistributedMatrix<T>& matrix, LocalIndex first, LocalIndex count) {
  Device& device = *matrix.context().device;
  const GlobalIndex own_begin = matrix.column_partition().begin(matrix.context().comm.rank());
  MatrixEntries entries;
  append(
      device, matrix.own_columns().view(), first, count, [](LocalIndex row) { return row; },
      [&](LocalIndex column) { return own_begin + column; }, entries);
  const CsrMatrix<T>& boundary = matrix.boundary();
  if (boundary.rows() == 0) return entries;
  const std::vector<LocalIndex> rows = copied(device, boundary.row_map().data(), boundary.row_map().size());
  const auto begin = std::lower_bound(rows.begin(), rows.end(), first);
  const auto end = std::lower_bound(begin, rows.end(), first + count);
  append(
      device, boundary.view(), static_cast<LocalIndex>(begin - rows.begin()), static_cast<LocalIndex>(end - begin),
      [&](LocalIndex row) { return rows[static_cast<std::size_t>(row)]; },
      [&](LocalIndex column) { return matrix.ghost_columns()[static_cast<std::size_t>(column)]; }, entries);
  return entries;
}

template MatrixEntries copied_entries(const DistributedMatrix<float>&, LocalIndex, LocalIndex);
template MatrixEntries copied_entries(const DistributedMatrix<double>&, LocalIndex, LocalIndex);

}  // namespace block_eigs
