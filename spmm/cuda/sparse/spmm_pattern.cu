#include "spmm/cuda/sparse/spmm_pattern.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace block_eigs::cuda {

namespace {

/// Rows that have nonzeros, one after the other.
struct FilledRows {
  const Offset* offsets;
  const LocalIndex* columns;
  LocalIndex count;

  Offset length(LocalIndex row) const { return offsets[row + 1] - offsets[row]; }
  bool same_columns(LocalIndex row, LocalIndex other) const {
    const Offset n = length(row);
    return length(other) == n && std::memcmp(columns + offsets[row], columns + offsets[other],
                                             static_cast<std::size_t>(n) * sizeof(LocalIndex)) == 0;
  }
  LocalIndex bundle_end(LocalIndex first) const {
    LocalIndex end = first + 1;
    while (end < count && end - first < bundle_rows_limit && same_columns(first, end)) ++end;
    return end;
  }
};

/// Nonzeros over columns to be loaded, from samples of the rows; 1 where no rows are alike.
double expected_gain(const FilledRows& rows) {
  constexpr LocalIndex samples = 64, run = 32;
  Offset nonzeros = 0, columns = 0;
  const LocalIndex step = std::max<LocalIndex>(rows.count / samples, run);
  for (std::int64_t begin = 0; begin < rows.count; begin += step) {
    const LocalIndex end = static_cast<LocalIndex>(std::min<std::int64_t>(begin + run, rows.count));
    for (LocalIndex row = static_cast<LocalIndex>(begin); row < end;) {
      const LocalIndex next = std::min(rows.bundle_end(row), end);
      nonzeros += rows.offsets[next] - rows.offsets[row];
      columns += rows.length(row);
      row = next;
    }
  }
  return columns == 0 ? 1.0 : static_cast<double>(nonzeros) / static_cast<double>(columns);
}

void make_bundles(const FilledRows& rows, SparsePattern& pattern) {
  pattern.bundled = true;
  pattern.column_offsets = {0};
  for (LocalIndex row = 0; row < rows.count;) {
    pattern.first_rows.push_back(row);
    pattern.value_offsets.push_back(rows.offsets[row]);
    pattern.columns.insert(pattern.columns.end(), rows.columns + rows.offsets[row],
                           rows.columns + rows.offsets[row + 1]);
    pattern.column_offsets.push_back(static_cast<Offset>(pattern.columns.size()));
    row = rows.bundle_end(row);
  }
  pattern.first_rows.push_back(rows.count);
  pattern.value_offsets.push_back(rows.offsets[rows.count]);
}

/// Lists the rows with and those without nonzeros, where there are both.
template <class T>
void split_off_empty_rows(const CsrView<T>& a, SparsePattern& pattern) {
  const Offset* offsets = a.row_offsets;
  LocalIndex empty = 0;
  for (LocalIndex row = 0; row < a.rows; ++row) empty += offsets[row] == offsets[row + 1] ? 1 : 0;
  pattern.statistics.empty_rows = empty;
  pattern.statistics.rows = a.rows - empty;
  if (empty == 0) return;
  pattern.targets.reserve(static_cast<std::size_t>(a.rows - empty));
  pattern.empty_targets.reserve(static_cast<std::size_t>(empty));
  pattern.column_offsets = {0};
  for (LocalIndex row = 0; row < a.rows; ++row) {
    const LocalIndex target = a.row_map == nullptr ? row : a.row_map[row];
    if (offsets[row] == offsets[row + 1]) {
      pattern.empty_targets.push_back(target);
      continue;
    }
    pattern.targets.push_back(target);
    pattern.column_offsets.push_back(offsets[row + 1]);
  }
}

void measure_lengths(const FilledRows& rows, RowStatistics& statistics) {
  statistics.nonzeros = rows.offsets[rows.count];
  if (rows.count == 0) return;
  statistics.mean = static_cast<double>(statistics.nonzeros) / rows.count;
  double squares = 0.0;
  for (LocalIndex row = 0; row < rows.count; ++row) {
    const Offset length = rows.length(row);
    statistics.longest = std::max(statistics.longest, length);
    squares += (static_cast<double>(length) - statistics.mean) * (static_cast<double>(length) - statistics.mean);
  }
  statistics.spread = std::sqrt(squares / rows.count) / statistics.mean;
}

/// Largest numbers of nonzeros in runs of 1, 2, 4, ... rows, up to all of them.
std::vector<Offset> most_in_runs(const Offset* offsets, LocalIndex count) {
  std::vector<Offset> most;
  for (std::int64_t run = 1; count > 0; run *= 2) {
    Offset largest = 0;
    for (std::int64_t i = 0; i < count; i += run) {
      largest = std::max(largest, offsets[std::min<std::int64_t>(i + run, count)] - offsets[i]);
    }
    most.push_back(largest);
    if (run >= count) break;
  }
  return most;
}

}  // namespace

template <class T>
SparsePattern find_pattern(const CsrView<T>& host) {
  SparsePattern pattern;
  if (host.rows == 0) return pattern;
  split_off_empty_rows(host, pattern);
  const std::vector<Offset> filled = pattern.column_offsets;
  const FilledRows rows{filled.empty() ? host.row_offsets : filled.data(), host.column_indices,
                        pattern.statistics.rows};
  measure_lengths(rows, pattern.statistics);
  if (pattern.statistics.nonzeros >= least_nonzeros_of_bundles && expected_gain(rows) >= least_gain_of_bundles)
    make_bundles(rows, pattern);
  const Offset* columns = pattern.column_offsets.empty() ? host.row_offsets : pattern.column_offsets.data();
  const LocalIndex bundles =
      pattern.bundled ? static_cast<LocalIndex>(pattern.first_rows.size()) - 1 : pattern.statistics.rows;
  pattern.statistics.columns_total = columns[bundles];
  pattern.most_columns = most_in_runs(columns, bundles);
  pattern.most_values =
      pattern.bundled ? most_in_runs(pattern.value_offsets.data(), bundles) : pattern.most_columns;
  return pattern;
}

template SparsePattern find_pattern(const CsrView<float>&);
template SparsePattern find_pattern(const CsrView<double>&);

}  // namespace block_eigs::cuda
