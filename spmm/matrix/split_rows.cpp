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

/// Rows with ghosts, in a part of all rows.
struct Boundary {
  std::vector<LocalIndex> rows;
  std::vector<Offset> ghosts;  ///< entries of each
  Offset own = 0;              ///< own entries of the part
};

/// Where the own and the ghost entries of every row go: offsets of both parts.
template <class T>
void count_entries(const CsrRows& rows, GlobalIndex begin, GlobalIndex end, SplitRows<T>& parts) {
  std::vector<Offset>& offsets = parts.own.row_offsets;
  offsets.clear();
  resize_large(offsets, rows.row_offsets.size());
  const int shares = host::threads();
  std::vector<Boundary> boundaries(static_cast<std::size_t>(shares));
  FirstError failure;
#pragma omp parallel for schedule(static, 1) num_threads(shares)
  for (int share = 0; share < shares; ++share) {
    failure.run([&] {
      Boundary found;
      const host::Range mine = host::part_of(rows.rows(), share, shares);
      for (auto row = static_cast<std::size_t>(mine.begin); row < static_cast<std::size_t>(mine.end); ++row) {
        const Offset before = found.own;
        for (Offset k = rows.row_offsets[row]; k < rows.row_offsets[row + 1]; ++k) {
          const GlobalIndex column = rows.columns[static_cast<std::size_t>(k)];
          found.own += column >= begin && column < end ? 1 : 0;
        }
        offsets[row + 1] = found.own;
        const Offset ghosts = rows.row_offsets[row + 1] - rows.row_offsets[row] - (found.own - before);
        if (ghosts == 0) continue;
        found.rows.push_back(static_cast<LocalIndex>(row));
        found.ghosts.push_back(ghosts);
      }
      boundaries[static_cast<std::size_t>(share)] = std::move(found);
    });
  }
  failure.rethrow();
  for (Offset before = 0; Boundary & each : boundaries) {
    std::swap(each.own, before);  // where the share begins
    before += each.own;
    parts.boundary.row_map.insert(parts.boundary.row_map.end(), each.rows.begin(), each.rows.end());
    for (const Offset ghosts : each.ghosts)
      parts.boundary.row_offsets.push_back(parts.boundary.row_offsets.back() + ghosts);
  }
#pragma omp parallel for schedule(static, 1) num_threads(shares)
  for (int share = 0; share < shares; ++share) {
    const host::Range mine = host::part_of(rows.rows(), share, shares);
    for (std::int64_t row = mine.begin; row < mine.end; ++row)
      offsets[static_cast<std::size_t>(row) + 1] += boundaries[static_cast<std::size_t>(share)].own;
  }
}

/// The own entries, where the offsets say. In double the values stay in the memory in which they came, some rows
/// at a time by way of `passing`: fresh memory for them would take as long as all the rest.
template <class T>
void take_own(CsrRows& rows, GlobalIndex begin, GlobalIndex end, CsrArrays<T>& own) {
  constexpr Offset at_a_time = Offset{1} << 19;
  constexpr bool in_place = std::is_same_v<T, double>;
  const std::vector<Offset>& offsets = own.row_offsets;
  resize_large(own.column_indices, static_cast<std::size_t>(offsets.back()));
  if constexpr (!in_place) resize_large(own.values, own.column_indices.size());
  std::vector<T> passing;
  for (std::size_t first = 0; first + 1 < offsets.size();) {
    const auto beyond = std::upper_bound(offsets.begin() + static_cast<std::ptrdiff_t>(first), offsets.end(),
                                         offsets[first] + at_a_time);
    const std::size_t last = std::max(static_cast<std::size_t>(beyond - offsets.begin()) - 1, first + 1);
    const Offset base = in_place ? offsets[first] : 0;
    if (in_place) passing.resize(static_cast<std::size_t>(offsets[last] - base));
    T* const values = in_place ? passing.data() : own.values.data();
#pragma omp parallel for schedule(static)
    for (std::size_t row = first; row < last; ++row) {
      auto at = static_cast<std::size_t>(offsets[row]);
      for (Offset k = rows.row_offsets[row]; k < rows.row_offsets[row + 1]; ++k) {
        const GlobalIndex column = rows.columns[static_cast<std::size_t>(k)];
        if (column < begin || column >= end) continue;
        own.column_indices[at] = static_cast<LocalIndex>(column - begin);
        values[at++ - static_cast<std::size_t>(base)] = static_cast<T>(rows.values[static_cast<std::size_t>(k)]);
      }
    }
    if constexpr (in_place) {
#pragma omp parallel for schedule(static)
      for (std::size_t k = 0; k < passing.size(); ++k)
        rows.values[static_cast<std::size_t>(base) + k] = passing[k];
    }
    first = last;
  }
  if constexpr (in_place) {
    rows.values.resize(own.column_indices.size());
    own.values = std::move(rows.values);
  }
}

/// The ghosts' entries, where the offsets say.
template <class T>
void take_ghosts(const CsrRows& rows, GlobalIndex begin, GlobalIndex end, const std::vector<GlobalIndex>& ghosts,
                 CsrArrays<T>& boundary) {
  resize_large(boundary.column_indices, static_cast<std::size_t>(boundary.row_offsets.back()));
  resize_large(boundary.values, boundary.column_indices.size());
#pragma omp parallel for schedule(static)
  for (std::size_t b = 0; b < boundary.row_map.size(); ++b) {
    auto at = static_cast<std::size_t>(boundary.row_offsets[b]);
    const auto row = static_cast<std::size_t>(boundary.row_map[b]);
    for (Offset k = rows.row_offsets[row]; k < rows.row_offsets[row + 1]; ++k) {
      const GlobalIndex column = rows.columns[static_cast<std::size_t>(k)];
      if (column >= begin && column < end) continue;
      const auto ghost = std::lower_bound(ghosts.begin(), ghosts.end(), column) - ghosts.begin();
      boundary.column_indices[at] = static_cast<LocalIndex>(ghost);
      boundary.values[at++] = static_cast<T>(rows.values[static_cast<std::size_t>(k)]);
    }
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
  take_ghosts(rows, begin, end, ghosts, parts.boundary);
  take_own(rows, begin, end, parts.own);
  return parts;
}

template SplitRows<float> split(CsrRows&, GlobalIndex, GlobalIndex, const std::vector<GlobalIndex>&);
template SplitRows<double> split(CsrRows&, GlobalIndex, GlobalIndex, const std::vector<GlobalIndex>&);

}  // namespace block_eigs
