#include "spmm/matrix/split_rows.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "spmm/first_error.hpp"
#include "spmm/host/runtime/threads.hpp"
#include "spmm/large_vectors.hpp"

namespace block_eigs {

namespace {

void sort_without_duplicates(std::vector<GlobalIndex>& columns) {
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
}

/// Where the own and the ghost entries of every row go: offsets of both parts.
template <class T>
void count_entries(const CsrRows& rows, GlobalIndex begin, GlobalIndex end, SplitRows<T>& parts) {
  std::vector<Offset> ghosts_of(static_cast<std::size_t>(rows.rows()), 0);
  parts.own.row_offsets.assign(rows.row_offsets.size(), 0);
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    Offset own = 0;
    for (Offset k = rows.row_offsets[row]; k < rows.row_offsets[row + 1]; ++k) {
      const GlobalIndex column = rows.columns[static_cast<std::size_t>(k)];
      own += column >= begin && column < end ? 1 : 0;
    }
    parts.own.row_offsets[row + 1] = own;
    ghosts_of[row] = rows.row_offsets[row + 1] - rows.row_offsets[row] - own;
  }
  for (std::size_t row = 0; row < ghosts_of.size(); ++row) {
    parts.own.row_offsets[row + 1] += parts.own.row_offsets[row];
    if (ghosts_of[row] == 0) continue;
    parts.boundary.row_map.push_back(static_cast<LocalIndex>(row));
    parts.boundary.row_offsets.push_back(parts.boundary.row_offsets.back() + ghosts_of[row]);
  }
}

/// Where no column is a ghost: the arrays of `rows` themselves, but for narrower column numbers.
template <class T>
SplitRows<T> take_whole(CsrRows& rows, GlobalIndex begin, GlobalIndex end) {
  SplitRows<T> parts;
  parts.own.columns = static_cast<LocalIndex>(end - begin);
  parts.own.row_offsets = std::move(rows.row_offsets);
  resize_large(parts.own.column_indices, rows.columns.size());
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < rows.columns.size(); ++k) {
    parts.own.column_indices[k] = static_cast<LocalIndex>(rows.columns[k] - begin);
  }
  if constexpr (std::is_same_v<T, double>) {
    parts.own.values = std::move(rows.values);
  } else {
    resize_large(parts.own.values, rows.values.size());
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < rows.values.size(); ++k) parts.own.values[k] = static_cast<T>(rows.values[k]);
  }
  return parts;
}

}  // namespace

std::vector<GlobalIndex> ghost_columns(const CsrRows& rows, GlobalIndex begin, GlobalIndex end) {
  std::vector<GlobalIndex> ghosts;
  FirstError failure;
  const int parts = host::threads();
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    failure.run([&] {
      std::vector<GlobalIndex> mine;
      const host::Range own = host::part_of(static_cast<std::int64_t>(rows.columns.size()), part, parts);
      for (std::int64_t k = own.begin; k < own.end; ++k) {
        const GlobalIndex column = rows.columns[static_cast<std::size_t>(k)];
        if (column < begin || column >= end) mine.push_back(column);
      }
      sort_without_duplicates(mine);
#pragma omp critical(ghost_columns)
      failure.run([&] { ghosts.insert(ghosts.end(), mine.begin(), mine.end()); });
    });
  }
  failure.rethrow();
  sort_without_duplicates(ghosts);
  ghosts.shrink_to_fit();
  return ghosts;
}

template <class T>
SplitRows<T> split(CsrRows& rows, GlobalIndex begin, GlobalIndex end, const std::vector<GlobalIndex>& ghosts) {
  if (ghosts.empty()) return take_whole<T>(rows, begin, end);
  SplitRows<T> parts;
  parts.own.columns = static_cast<LocalIndex>(end - begin);
  parts.boundary.columns = static_cast<LocalIndex>(ghosts.size());
  count_entries(rows, begin, end, parts);
  for (CsrArrays<T>* part : {&parts.own, &parts.boundary}) {
    resize_large(part->column_indices, static_cast<std::size_t>(part->row_offsets.back()));
    resize_large(part->values, part->column_indices.size());
  }
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    auto at = static_cast<std::size_t>(parts.own.row_offsets[row]);
    for (Offset k = rows.row_offsets[row]; k < rows.row_offsets[row + 1]; ++k) {
      const GlobalIndex column = rows.columns[static_cast<std::size_t>(k)];
      if (column < begin || column >= end) continue;
      parts.own.column_indices[at] = static_cast<LocalIndex>(column - begin);
      parts.own.values[at++] = static_cast<T>(rows.values[static_cast<std::size_t>(k)]);
    }
  }
  std::size_t at = 0;
  for (const LocalIndex i : parts.boundary.row_map) {
    const auto row = static_cast<std::size_t>(i);
    for (Offset k = rows.row_offsets[row]; k < rows.row_offsets[row + 1]; ++k) {
      const GlobalIndex column = rows.columns[static_cast<std::size_t>(k)];
      if (column >= begin && column < end) continue;
      const auto ghost = std::lower_bound(ghosts.begin(), ghosts.end(), column) - ghosts.begin();
      parts.boundary.column_indices[at] = static_cast<LocalIndex>(ghost);
      parts.boundary.values[at++] = static_cast<T>(rows.values[static_cast<std::size_t>(k)]);
    }
  }
  return parts;
}

template SplitRows<float> split(CsrRows&, GlobalIndex, GlobalIndex, const std::vector<GlobalIndex>&);
template SplitRows<double> split(CsrRows&, GlobalIndex, GlobalIndex, const std::vector<GlobalIndex>&);

}  // namespace block_eigs
