#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "spmm/device/csr_buffers.hpp"
#include "spmm/first_error.hpp"
#include "spmm/host/runtime/threads.hpp"

namespace block_eigs::host {

/// Sum of sparse rows: a place for every column, of which a few are taken.
class RowSums {
 public:
  explicit RowSums(LocalIndex columns)
      : sums_(static_cast<std::size_t>(columns)), taken_(static_cast<std::size_t>(columns), 0) {}

  void add(LocalIndex column, double value) {
    const auto at = static_cast<std::size_t>(column);
    if (taken_[at] == 0) {
      taken_[at] = 1;
      sums_[at] = 0.0;
      columns_.push_back(column);
    }
    sums_[at] += value;
  }
  /// Appends columns, ascending, and sums; then it is empty again.
  void move_to(std::vector<LocalIndex>& columns, std::vector<double>& values) {
    std::sort(columns_.begin(), columns_.end());
    for (const LocalIndex column : columns_) {
      columns.push_back(column);
      values.push_back(sums_[static_cast<std::size_t>(column)]);
      taken_[static_cast<std::size_t>(column)] = 0;
    }
    columns_.clear();
  }

 private:
  std::vector<double> sums_;
  std::vector<char> taken_;
  std::vector<LocalIndex> columns_;
};

/// Calls work(begin, end) for consecutive parts of 0 .. count - 1, one a thread. The first exception is thrown
/// again here.
template <class Work>
void for_parts(LocalIndex count, const Work& work) {
  const int parts = threads();
  FirstError failure;
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    const Range own = part_of(count, part, parts);
    failure.run([&] { work(static_cast<LocalIndex>(own.begin), static_cast<LocalIndex>(own.end)); });
  }
  failure.rethrow();
}

/// A matrix of which row(i, sums) makes row after row, on all threads.
template <class Row>
CsrBuffers<double> collect_rows(const std::shared_ptr<Device>& device, LocalIndex rows, LocalIndex columns,
                                const Row& row) {
  struct Part {
    LocalIndex begin = 0;
    LocalIndex end = 0;
    std::vector<LocalIndex> columns;
    std::vector<double> values;
  };
  auto pattern = std::make_shared<CsrPattern>();
  pattern->rows = rows;
  pattern->columns = columns;
  pattern->row_offsets = Buffer<Offset>(device, static_cast<std::size_t>(rows) + 1);
  Offset* offsets = pattern->row_offsets.data();
  offsets[0] = 0;
  std::vector<Part> parts(static_cast<std::size_t>(threads()));
  FirstError failure;
#pragma omp parallel for schedule(static, 1) num_threads(static_cast <int>(parts.size()))
  for (std::size_t p = 0; p < parts.size(); ++p) {
    failure.run([&] {
      const Range own = part_of(rows, static_cast<int>(p), static_cast<int>(parts.size()));
      Part& part = parts[p];
      part.begin = static_cast<LocalIndex>(own.begin);
      part.end = static_cast<LocalIndex>(own.end);
      RowSums sums(columns);
      for (LocalIndex i = part.begin; i < part.end; ++i) {
        row(i, sums);
        sums.move_to(part.columns, part.values);
        offsets[i + 1] = static_cast<Offset>(part.columns.size());
      }
    });
  }
  failure.rethrow();
  Offset before = 0;
  for (const Part& part : parts) {
    for (LocalIndex i = part.begin; i < part.end; ++i) offsets[i + 1] += before;
    before += static_cast<Offset>(part.columns.size());
  }
  pattern->nonzeros = before;
  pattern->column_indices = Buffer<LocalIndex>(device, static_cast<std::size_t>(before));
  Buffer<double> values(device, static_cast<std::size_t>(before));
  for (const Part& part : parts) {
    if (part.begin == part.end) continue;
    std::copy(part.columns.begin(), part.columns.end(), pattern->column_indices.data() + offsets[part.begin]);
    std::copy(part.values.begin(), part.values.end(), values.data() + offsets[part.begin]);
  }
  return {std::move(pattern), std::move(values)};
}

}  // namespace block_eigs::host
