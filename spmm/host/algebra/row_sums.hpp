#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spmm/types.hpp"

namespace block_eigs::host {

/// `factor` times a sparse row.
struct ScaledRow {
  double factor;
  const LocalIndex* columns;
  const double* values;
  Offset entries;
};

/// Sum of sparse rows. A table says where the sum of a column is: an entry for each where there are few columns,
/// else a hash table, so that what it takes goes with the entries of the sum.
class RowSums {
 public:
  explicit RowSums(LocalIndex columns) : direct_(columns <= few_columns) {
    resize_table(direct_ ? static_cast<std::size_t>(columns) : 64);
  }

  /// Adds row_of(begin), ..., row_of(end - 1), ScaledRow each. Many rows of a few entries at once: what they are
  /// added to stays in registers from one to the next.
  template <class RowOf>
  void add_rows(Offset begin, Offset end, const RowOf& row_of) {
    if (!direct_) return add_rows_hashed(begin, end, row_of);
    LocalIndex* const table = table_.data();
    LocalIndex* known = columns_.data();
    double* sums = sums_.data();
    auto room = static_cast<LocalIndex>(sums_.size());
    auto size = static_cast<LocalIndex>(size_);
    for (Offset r = begin; r < end; ++r) {
      const ScaledRow row = row_of(r);
      if (size + row.entries > room) {
        size_ = static_cast<std::size_t>(size);
        make_room(static_cast<std::size_t>(row.entries));
        known = columns_.data();
        sums = sums_.data();
        room = static_cast<LocalIndex>(sums_.size());
      }
      // Without branches, which would be guessed wrong: sums that are not taken yet are zero.
      for (Offset k = 0; k < row.entries; ++k) {
        const LocalIndex column = row.columns[k];
        const LocalIndex found = table[column];
        const LocalIndex place = found < 0 ? size : found;
        size += found < 0 ? 1 : 0;
        table[column] = place;
        known[place] = column;
        sums[place] += row.factor * row.values[k];
      }
    }
    size_ = static_cast<std::size_t>(size);
  }
  void add(const ScaledRow& row) {
    add_rows(0, 1, [&](Offset) { return row; });
  }
  void add(LocalIndex column, double value) { add({1.0, &column, &value, 1}); }
  std::size_t size() const { return size_; }
  /// Writes size() columns and sums, in the order in which the columns came; then it is empty again.
  void move_to(LocalIndex* columns, double* sums) {
    std::copy_n(columns_.data(), size_, columns);
    std::copy_n(sums_.data(), size_, sums);
    clear();
  }
  /// The same with columns ascending.
  void move_ascending_to(LocalIndex* columns, double* sums) {
    if (size_ <= counted_at_most) {
      count_into(columns, sums);
    } else {
      sort_into(columns, sums);
    }
    clear();
  }

 private:
  /// Rows that come one after the other share columns mostly, and a table of so many costs a thread little memory.
  static constexpr LocalIndex few_columns = 1 << 20;
  /// Comparing all pairs takes no branches that are guessed wrong.
  static constexpr std::size_t counted_at_most = 96;

  void count_into(LocalIndex* columns, double* sums) const {
    const LocalIndex* const known = columns_.data();
    for (std::size_t e = 0; e < size_; ++e) {
      const LocalIndex column = known[e];
      LocalIndex before = 0;
      for (std::size_t other = 0; other < size_; ++other) before += known[other] < column ? 1 : 0;
      columns[before] = column;
      sums[before] = sums_[e];
    }
  }
  void sort_into(LocalIndex* columns, double* sums) {
    order_.clear();
    for (std::size_t e = 0; e < size_; ++e) order_.push_back((static_cast<std::uint64_t>(columns_[e]) << 32) | e);
    if (!std::is_sorted(order_.begin(), order_.end())) std::sort(order_.begin(), order_.end());
    for (const std::uint64_t key : order_) {
      *columns++ = static_cast<LocalIndex>(key >> 32);
      *sums++ = sums_[static_cast<std::uint32_t>(key)];
    }
  }
  void clear() {
    for (std::size_t e = 0; e < size_; ++e) {
      table_[direct_ ? static_cast<std::size_t>(columns_[e]) : slots_[e]] = -1;
      sums_[e] = 0.0;
    }
    size_ = 0;
    slots_.clear();
  }
  void make_room(std::size_t more) {
    if (size_ + more <= sums_.size()) return;
    columns_.resize(2 * (size_ + more));
    sums_.resize(columns_.size(), 0.0);
  }

  template <class RowOf>
  void add_rows_hashed(Offset begin, Offset end, const RowOf& row_of) {
    for (Offset r = begin; r < end; ++r) {
      const ScaledRow row = row_of(r);
      make_room(static_cast<std::size_t>(row.entries));
      for (Offset k = 0; k < row.entries; ++k) add_hashed(row.columns[k], row.factor * row.values[k]);
    }
  }
  void add_hashed(LocalIndex column, double value) {
    const std::size_t at = slot_of(column);
    if (table_[at] < 0) {
      table_[at] = static_cast<LocalIndex>(size_);
      slots_.push_back(at);
      columns_[size_++] = column;
    }
    sums_[static_cast<std::size_t>(table_[at])] += value;
    if (2 * size_ > table_.size()) grow();
  }
  /// Of the column, or the free one where it belongs.
  std::size_t slot_of(LocalIndex column) const {
    std::size_t at = (static_cast<std::uint32_t>(column) * 2654435769U) >> shift_;
    while (table_[at] >= 0 && columns_[static_cast<std::size_t>(table_[at])] != column)
      at = (at + 1) & (table_.size() - 1);
    return at;
  }
  void resize_table(std::size_t size) {  // a power of 2, unless direct
    table_.assign(size, -1);
    shift_ = direct_ ? 0 : 32 - std::countr_zero(size);
  }
  void grow() {
    resize_table(4 * table_.size());
    for (std::size_t place = 0; place < size_; ++place) {
      slots_[place] = slot_of(columns_[place]);
      table_[slots_[place]] = static_cast<LocalIndex>(place);
    }
  }

  bool direct_;
  std::vector<LocalIndex> table_;  ///< places of columns_, -1 where free
  int shift_ = 0;
  std::size_t size_ = 0;
  std::vector<LocalIndex> columns_;  ///< size_ of them, then room
  std::vector<double> sums_;         ///< theirs, zero behind them
  std::vector<std::size_t> slots_;   ///< theirs in a hash table
  std::vector<std::uint64_t> order_;
};

}  // namespace block_eigs::host
