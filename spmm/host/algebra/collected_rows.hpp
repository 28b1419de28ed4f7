#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "spmm/device/buffer.hpp"
#include "spmm/device/csr_buffers.hpp"
#include "spmm/host/algebra/made_matrix.hpp"
#include "spmm/host/algebra/parts.hpp"
#include "spmm/host/algebra/row_groups.hpp"
#include "spmm/host/algebra/row_sums.hpp"

namespace block_eigs::host {

/// Memory for sparse rows that one thread makes: it comes in pieces, so that nothing is moved when there are more
/// rows than foreseen.
class RowStore {
 public:
  explicit RowStore(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  /// Room for so many values, and for their columns behind them, which stays where it is.
  double* append(std::size_t entries) {
    const std::size_t places = entries + (entries + 1) / 2;
    if (places > left_) add_piece(places);
    double* const row = next_;
    next_ += places;
    left_ -= places;
    return row;
  }

 private:
  static constexpr std::size_t first_piece = std::size_t{1} << 12;
  static constexpr std::size_t largest_piece = std::size_t{1} << 19;  // of 4 MiB, in large pages

  void add_piece(std::size_t least) {
    const std::size_t size = pieces_.empty() ? first_piece : std::min(largest_piece, 2 * pieces_.back().size());
    pieces_.emplace_back(device_, std::max(size, least));
    next_ = pieces_.back().data();
    left_ = pieces_.back().size();
  }

  std::shared_ptr<Device> device_;
  std::vector<Buffer<double>> pieces_;
  double* next_ = nullptr;
  std::size_t left_ = 0;
};

enum class ColumnOrder { ascending, as_they_came };

/// Rows that row(i, sums) makes, on all threads, in groups of columns. Nothing of them is moved, so that they are
/// not side by side.
class StoredRows {
 public:
  static constexpr Offset any_number = std::numeric_limits<Offset>::max();

  template <int Width, class Row>
  StoredRows(const std::shared_ptr<Device>& device, LocalIndex rows, LocalIndex columns, GroupWidth<Width>,
             const Row& row, ColumnOrder order, Offset most_entries = any_number)
      : rows_(device, static_cast<std::size_t>(rows)), entries_(device, static_cast<std::size_t>(rows)) {
    for (int part = 0; part < threads(); ++part) stores_.emplace_back(device);
    std::atomic<Offset> all = 0;
    for_numbered_parts(rows, [&](LocalIndex begin, LocalIndex end, int part) {
      RowStore& store = stores_[static_cast<std::size_t>(part)];
      RowSums<Width> sums(columns);
      Offset told = 0;
      Offset own = 0;
      for (LocalIndex i = begin; i < end; ++i) {
        row(i, sums);
        const std::size_t count = sums.size();
        double* const values = store.append(count);
        rows_.data()[i] = values;
        entries_.data()[i] = static_cast<LocalIndex>(count);
        own += static_cast<Offset>(count);
        auto* const own_columns = reinterpret_cast<LocalIndex*>(values + count);
        if (order == ColumnOrder::ascending) {
          sums.move_ascending_to(own_columns, values);
        } else {
          sums.move_to(own_columns, values);
        }
        if (most_entries == any_number || (own - told < entries_between_looks && i + 1 < end)) continue;
        if ((all += own - std::exchange(told, own)) > most_entries) break;
      }
    });
    complete_ = all <= most_entries;
  }

  /// Whether there were no more entries than allowed. If not, rows are missing.
  bool complete() const { return complete_; }
  LocalIndex entries(LocalIndex i) const { return entries_.data()[i]; }
  const double* values(LocalIndex i) const { return rows_.data()[i]; }
  const LocalIndex* columns(LocalIndex i) const {
    return reinterpret_cast<const LocalIndex*>(values(i) + entries(i));
  }

 private:
  static constexpr Offset entries_between_looks = 10'000;

  std::vector<RowStore> stores_;
  Buffer<double*> rows_;  ///< values, columns behind them
  Buffer<LocalIndex> entries_;
  bool complete_ = true;
};

/// The matrix of rows that row(i, sums) makes; nothing where it would have more than `most_entries`.
template <int Width, class Row>
std::optional<CsrBuffers<double>> collect_rows(const std::shared_ptr<Device>& device, LocalIndex rows,
                                               LocalIndex columns, GroupWidth<Width> width, const Row& row,
                                               Offset most_entries = StoredRows::any_number) {
  const StoredRows stored(device, rows, columns, width, row, ColumnOrder::ascending, most_entries);
  if (!stored.complete()) return std::nullopt;
  MadeMatrix made = with_lengths(device, rows, columns, [&](LocalIndex i) { return stored.entries(i); });
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < rows; ++i) {
    std::copy_n(stored.columns(i), stored.entries(i), made.columns_of(i));
    std::copy_n(stored.values(i), stored.entries(i), made.values_of(i));
  }
  return std::move(made).buffers();
}

}  // namespace block_eigs::host
