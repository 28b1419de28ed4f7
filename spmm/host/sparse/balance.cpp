#include "spmm/host/sparse/balance.hpp"

#include <algorithm>

namespace block_eigs::host {

namespace {

/// Where `work` units are done.
Position cut(const Offset* row_offsets, LocalIndex rows, std::int64_t work, Offset longest_whole_row) {
  // The last row that begins with at most `work` units before it.
  LocalIndex low = 0;
  LocalIndex high = rows;
  while (low < high) {
    const LocalIndex middle = low + (high - low + 1) / 2;
    if (middle + row_offsets[middle] <= work) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  if (low == rows) return {rows, row_offsets[rows]};
  const Offset begin = row_offsets[low];
  const Offset end = row_offsets[low + 1];
  const Offset within = std::min(work - low, end);
  if (end - begin > longest_whole_row) return {low, within};
  if (2 * (within - begin) < end - begin) return {low, begin};
  return {low + 1, end};
}

}  // namespace

std::vector<Position> balance(const Offset* row_offsets, LocalIndex rows, int shares, Offset longest_whole_row) {
  std::vector<Position> cuts{{0, 0}};
  const std::int64_t work = rows + (rows > 0 ? row_offsets[rows] : 0);
  for (int share = 1; share < shares; ++share) {
    cuts.push_back(
        cut(row_offsets, rows, work / shares * share + work % shares * share / shares, longest_whole_row));
  }
  cuts.push_back({rows, rows > 0 ? row_offsets[rows] : 0});
  return cuts;
}

int share_count(std::int64_t work, int threads) {
  constexpr std::int64_t largest = 32768;
  constexpr std::int64_t smallest = 2048;
  const std::int64_t a_thread = (work + largest * threads - 1) / (largest * threads);
  return static_cast<int>(
      std::clamp<std::int64_t>(work / smallest, 1, std::max<std::int64_t>(a_thread, 1) * threads));
}

}  // namespace block_eigs::host
