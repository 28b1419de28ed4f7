#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "spmm/device/csr_buffers.hpp"
#include "spmm/first_error.hpp"
#include "spmm/host/runtime/threads.hpp"

namespace block_eigs::host {

/// Sum of sparse rows. A table says where the sum of a column is: an entry for each where there are few columns,
/// else a hash table, so that what it takes goes with the entries of the sum.
class RowSums {
 public:
  explicit RowSums(LocalIndex columns) : direct_(columns <= few_columns) {
    resize_table(direct_ ? static_cast<std::size_t>(columns) : 64);
  }

  void add(LocalIndex column, double value) {
    const std::size_t at = slot_of(column);
    if (table_[at] >= 0) {
      sums_[static_cast<std::size_t>(table_[at])].value += value;
      return;
    }
    table_[at] = static_cast<LocalIndex>(sums_.size());
    slots_.push_back(at);
    sums_.push_back({column, 0.0 + value});
    if (!direct_ && 2 * sums_.size() > table_.size()) grow();
  }
  /// Appends columns, ascending, and sums; then it is empty again.
  void move_to(std::vector<LocalIndex>& columns, std::vector<double>& values) {
    for (const std::size_t at : slots_) table_[at] = -1;
    const auto by_column = [](const Sum& a, const Sum& b) { return a.column < b.column; };
    if (!std::is_sorted(sums_.begin(), sums_.end(), by_column)) std::sort(sums_.begin(), sums_.end(), by_column);
    for (const Sum& sum : sums_) {
      columns.push_back(sum.column);
      values.push_back(sum.value);
    }
    sums_.clear();
    slots_.clear();
  }

 private:
  /// A table of so many stays in a core's own cache.
  static constexpr LocalIndex few_columns = 1 << 17;

  struct Sum {
    LocalIndex column = 0;
    double value = 0.0;
  };

  /// Of the column, or the free one where it belongs.
  std::size_t slot_of(LocalIndex column) const {
    if (direct_) return static_cast<std::size_t>(column);
    std::size_t at = (static_cast<std::uint32_t>(column) * 2654435769U) >> shift_;
    while (table_[at] >= 0 && sums_[static_cast<std::size_t>(table_[at])].column != column)
      at = (at + 1) & (table_.size() - 1);
    return at;
  }
  void resize_table(std::size_t size) {  // a power of 2, unless direct
    table_.assign(size, -1);
    shift_ = direct_ ? 0 : 32 - std::countr_zero(size);
  }
  void grow() {
    resize_table(4 * table_.size());
    for (std::size_t place = 0; place < sums_.size(); ++place) {
      slots_[place] = slot_of(sums_[place].column);
      table_[slots_[place]] = static_cast<LocalIndex>(place);
    }
  }

  bool direct_;
  std::vector<LocalIndex> table_;  ///< places in sums_, -1 where free
  int shift_ = 0;
  std::vector<Sum> sums_;
  std::vector<std::size_t> slots_;  ///< theirs in the table
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
  std::vector<Offset> before(parts.size() + 1, 0);
  for (std::size_t p = 0; p < parts.size(); ++p)
    before[p + 1] = before[p] + static_cast<Offset>(parts[p].columns.size());
  pattern->nonzeros = before.back();
  pattern->column_indices = Buffer<LocalIndex>(device, static_cast<std::size_t>(before.back()));
  Buffer<double> values(device, static_cast<std::size_t>(before.back()));
  LocalIndex* const all_columns = pattern->column_indices.data();
#pragma omp parallel for schedule(static, 1) num_threads(static_cast <int>(parts.size()))
  for (std::size_t p = 0; p < parts.size(); ++p) {
    Part& part = parts[p];
    for (LocalIndex i = part.begin; i < part.end; ++i) offsets[i + 1] += before[p];
    std::copy(part.columns.begin(), part.columns.end(), all_columns + before[p]);
    std::copy(part.values.begin(), part.values.end(), values.data() + before[p]);
    part = {};
  }
  return {std::move(pattern), std::move(values)};
}

}  // namespace block_eigs::host
