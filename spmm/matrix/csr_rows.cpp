#include "spmm/matrix/csr_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "spmm/large_vectors.hpp"

namespace block_eigs {

std::vector<double> absolute_sums(const CsrRows& rows) {
  std::vector<double> sums(static_cast<std::size_t>(rows.rows()), 0.0);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto last = static_cast<std::size_t>(rows.row_offsets[i + 1]);
    for (auto k = static_cast<std::size_t>(rows.row_offsets[i]); k < last; ++k)
      sums[i] += std::abs(rows.values[k]);
  }
  return sums;
}

namespace {

/// Whether the columns of every row ascend already, none twice.
bool are_sorted(const CsrRows& rows) {
  bool sorted = true;
#pragma omp parallel for schedule(static) reduction(&& : sorted)
  for (std::size_t i = 1; i < rows.row_offsets.size(); ++i) {
    const auto last = static_cast<std::size_t>(rows.row_offsets[i]);
    for (auto k = static_cast<std::size_t>(rows.row_offsets[i - 1]) + 1; k < last; ++k)
      sorted = sorted && rows.columns[k - 1] < rows.columns[k];
  }
  return sorted;
}

}  // namespace

CsrRows copy_of(const CsrRows& rows) {
  CsrRows copy;
  copy.row_begin = rows.row_begin;
  copy.global_rows = rows.global_rows;
  copy.global_columns = rows.global_columns;
  copy_large(rows.row_offsets, copy.row_offsets);
  copy_large(rows.columns, copy.columns);
  copy_large(rows.values, copy.values);
  return copy;
}

bool sort_rows(CsrRows& rows) {
  if (are_sorted(rows)) return true;
  std::vector<std::pair<GlobalIndex, double>> row;
  Offset kept = 0;
  Offset begin = 0;
  for (std::size_t i = 1; i < rows.row_offsets.size(); ++i) {
    const Offset end = rows.row_offsets[i];
    row.clear();
    for (Offset k = begin; k < end; ++k) {
      row.emplace_back(rows.columns[static_cast<std::size_t>(k)], rows.values[static_cast<std::size_t>(k)]);
    }
    const auto by_column = [](const auto& a, const auto& b) { return a.first < b.first; };
    // Stable, so that duplicates are summed in the order in which they were stored.
    if (!std::is_sorted(row.begin(), row.end(), by_column)) std::stable_sort(row.begin(), row.end(), by_column);
    const Offset row_begin = kept;
    for (const auto& [column, value] : row) {
      if (kept > row_begin && rows.columns[static_cast<std::size_t>(kept - 1)] == column) {
        rows.values[static_cast<std::size_t>(kept - 1)] += value;
        continue;
      }
      rows.columns[static_cast<std::size_t>(kept)] = column;
      rows.values[static_cast<std::size_t>(kept)] = value;
      ++kept;
    }
    rows.row_offsets[i] = kept;
    begin = end;
  }
  rows.columns.resize(static_cast<std::size_t>(kept));
  rows.values.resize(static_cast<std::size_t>(kept));
  return false;
}

}  // namespace block_eigs
