#include "io/source/stored_zeros.hpp"

#include <omp.h>

#include <algorithm>
#include <vector>

namespace block_eigs {

namespace {

/// Rows [first, last), of which one thread moves the entries together.
struct Piece {
  std::size_t first;
  std::size_t last;
  Offset begin;  ///< of their entries, as these are stored
  Offset kept = 0;
};

std::vector<Piece> pieces_of(const CsrRows& rows, std::size_t count) {
  const auto all = static_cast<std::size_t>(rows.rows());
  std::vector<Piece> pieces;
  for (std::size_t p = 0; p < count; ++p) {
    const std::size_t first = all * p / count;
    pieces.push_back({first, all * (p + 1) / count, rows.row_offsets[first]});
  }
  return pieces;
}

/// Within the piece's own entries; offsets of rows count from its begin.
void compact(CsrRows& rows, Piece& piece) {
  Offset from = piece.begin;
  for (std::size_t i = piece.first; i < piece.last; ++i) {
    for (const Offset end = rows.row_offsets[i + 1]; from < end; ++from) {
      const auto at = static_cast<std::size_t>(from);
      if (rows.values[at] == 0.0) continue;
      const auto to = static_cast<std::size_t>(piece.begin + piece.kept);
      rows.values[to] = rows.values[at];
      rows.columns[to] = rows.columns[at];
      ++piece.kept;
    }
    rows.row_offsets[i + 1] = piece.kept;
  }
}

}  // namespace

std::int64_t count_stored_zeros(const CsrRows& rows) {
  std::int64_t zeros = 0;
#pragma omp parallel for schedule(static) reduction(+ : zeros)
  for (std::size_t k = 0; k < rows.values.size(); ++k) zeros += rows.values[k] == 0.0 ? 1 : 0;
  return zeros;
}

void drop_stored_zeros(CsrRows& rows) {
  std::vector<Piece> pieces = pieces_of(rows, static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel for schedule(static, 1)
  for (std::size_t p = 0; p < pieces.size(); ++p) compact(rows, pieces[p]);
  Offset kept = 0;
  for (const Piece& piece : pieces) {
    const auto moved = [&](auto& list) {
      std::copy_n(list.begin() + piece.begin, piece.kept, list.begin() + kept);
    };
    moved(rows.columns);
    moved(rows.values);
    for (std::size_t i = piece.first; i < piece.last; ++i) rows.row_offsets[i + 1] += kept;
    kept += piece.kept;
  }
  rows.columns.resize(static_cast<std::size_t>(kept));
  rows.values.resize(static_cast<std::size_t>(kept));
}

CsrRows WithoutStoredZeros::read(const Partition& partition) {
  constexpr std::int64_t many = 8;  // an entry in so many
  CsrRows rows = source_->read(partition);
  const std::int64_t zeros = comm_.sum(count_stored_zeros(rows));
  const bool in_place = comm_.any(static_cast<bool>(source_->resident()));
  dropped_ = zeros > 0 && (!in_place || many * zeros >= comm_.sum(static_cast<std::int64_t>(rows.nonzeros())));
  if (dropped_) drop_stored_zeros(rows);
  return rows;
}

}  // namespace block_eigs
