#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spmm/types.hpp"

namespace block_eigs::host {

/// `factor` times a sparse row, of whole groups of columns where it is added to sums of such.
struct ScaledRow {
  double factor;
  const LocalIndex* columns;
  const double* values;
  Offset entries;
};

/// Sum of sparse rows whose columns come in groups of `Width`: see GroupWidth. A table says where the sums of a
/// group are: an entry for each where there are few, else a hash table, so that what it takes goes with the
/// entries of the sum.
template <int Width = 1>
class RowSums {
 public:
  explicit RowSums(LocalIndex columns) : direct_(columns / Width <= few_groups) {
    resize_table(direct_ ? static_cast<std::size_t>(columns / Width) : 64);
  }

  /// Adds row_of(begin), ..., row_of(end - 1), ScaledRow each. Many rows of a few entries at once: what they are
  /// added to stays in registers from one to the next.
  template <class RowOf>
  void add_rows(Offset begin, Offset end, const RowOf& row_of) {
    if (!direct_) return add_rows_hashed(begin, end, row_of);
    LocalIndex* const table = table_.data();
    LocalIndex* known = groups_.data();
    double* sums = sums_.data();
    auto room = static_cast<LocalIndex>(groups_.size());
    auto size = static_cast<LocalIndex>(size_);
    for (Offset r = begin; r < end; ++r) {
      const ScaledRow row = row_of(r);
      if (size + row.entries / Width > room) {
        size_ = static_cast<std::size_t>(size);
        make_room(static_cast<std::size_t>(row.entries / Width));
        known = groups_.data();
        sums = sums_.data();
        room = static_cast<LocalIndex>(groups_.size());
      }
      // Without branches, which would be guessed wrong: sums that are not taken yet are zero.
      for (Offset k = 0; k < row.entries; k += Width) {
        const LocalIndex group = row.columns[k] / Width;
        const LocalIndex found = table[group];
        const LocalIndex place = found < 0 ? size : found;
        size += found < 0 ? 1 : 0;
        table[group] = place;
        known[place] = group;
        add_group(sums + static_cast<std::ptrdiff_t>(place) * Width, row, k);
      }
    }
    size_ = static_cast<std::size_t>(size);
  }
  void add(const ScaledRow& row) {
    add_rows(0, 1, [&](Offset) { return row; });
  }
  void add(LocalIndex column, double value) requires(Width == 1) { add({1.0, &column, &value, 1}); }
  /// Of the sum, in entries.
  std::size_t size() const { return size_ * Width; }
  /// Writes size() columns and sums, in the order in which the columns came; then it is empty again.
  void move_to(LocalIndex* columns, double* sums) {
    for (std::size_t e = 0; e < size_; ++e) write_group(e, e, columns, sums);
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
  static constexpr LocalIndex few_groups = 1 << 20;
  /// Comparing all pairs takes no branches that are guessed wrong.
  static constexpr std::size_t counted_at_most = 96;

  void count_into(LocalIndex* columns, double* sums) const {
    const LocalIndex* const known = groups_.data();
    for (std::size_t e = 0; e < size_; ++e) {
      const LocalIndex group = known[e];
      LocalIndex before = 0;
      for (std::size_t other = 0; other < size_; ++other) before += known[other] < group ? 1 : 0;
      write_group(e, static_cast<std::size_t>(before), columns, sums);
    }
  }
  void sort_into(LocalIndex* columns, double* sums) {
    order_.clear();
    for (std::size_t e = 0; e < size_; ++e) order_.push_back((static_cast<std::uint64_t>(groups_[e]) << 32) | e);
    if (!std::is_sorted(order_.begin(), order_.end())) std::sort(order_.begin(), order_.end());
    for (std::size_t to = 0; to < size_; ++to)
      write_group(static_cast<std::uint32_t>(order_[to]), to, columns, sums);
  }
  /// Group `from` of those known, as group `to` of the result.
  void write_group(std::size_t from, std::size_t to, LocalIndex* columns, double* sums) const {
    for (int g = 0; g < Width; ++g) {
      columns[to * Width + g] = groups_[from] * Width + g;
      sums[to * Width + g] = sums_[from * Width + g];
    }
  }
  static void add_group(double* sums, const ScaledRow& row, Offset first) {
    std::array<double, Width> terms;  // all of them before the first sum, which might be one of them
    for (int g = 0; g < Width; ++g) terms[g] = row.factor * row.values[first + g];
    for (int g = 0; g < Width; ++g) sums[g] += terms[g];
  }
  void clear() {
    for (std::size_t e = 0; e < size_; ++e) {
      table_[direct_ ? static_cast<std::size_t>(groups_[e]) : slots_[e]] = -1;
      std::fill_n(sums_.data() + e * Width, Width, 0.0);
    }
    size_ = 0;
    slots_.clear();
  }
  void make_room(std::size_t more) {
    if (size_ + more <= groups_.size()) return;
    groups_.resize(2 * (size_ + more));
    sums_.resize(groups_.size() * Width, 0.0);
  }

  template <class RowOf>
  void add_rows_hashed(Offset begin, Offset end, const RowOf& row_of) {
    for (Offset r = begin; r < end; ++r) {
      const ScaledRow row = row_of(r);
      make_room(static_cast<std::size_t>(row.entries / Width));
      for (Offset k = 0; k < row.entries; k += Width)
        add_group(sums_.data() + place_of(row.columns[k] / Width) * Width, row, k);
    }
  }
  /// Of a group's sums, by the hash table.
  std::size_t place_of(LocalIndex group) {
    const std::size_t at = slot_of(group);
    if (table_[at] >= 0) return static_cast<std::size_t>(table_[at]);
    const std::size_t place = size_++;
    table_[at] = static_cast<LocalIndex>(place);
    slots_.push_back(at);
    groups_[place] = group;
    if (2 * size_ > table_.size()) grow();
    return place;
  }
  /// Of the group, or the free one where it belongs.
  std::size_t slot_of(LocalIndex group) const {
    std::size_t at = (static_cast<std::uint32_t>(group) * 2654435769U) >> shift_;
    while (table_[at] >= 0 && groups_[static_cast<std::size_t>(table_[at])] != group)
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
      slots_[place] = slot_of(groups_[place]);
      table_[slots_[place]] = static_cast<LocalIndex>(place);
    }
  }

  bool direct_;
  std::vector<LocalIndex> table_;  ///< places of groups_, -1 where free
  int shift_ = 0;
  std::size_t size_ = 0;
  std::vector<LocalIndex> groups_;  ///< size_ of them, then room
  std::vector<double> sums_;        ///< theirs, zero behind them
  std::vector<std::size_t> slots_;  ///< theirs in a hash table
  std::vector<std::uint64_t> order_;
};

}  // namespace block_eigs::host
