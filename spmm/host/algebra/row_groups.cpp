#include "spmm/host/algebra/row_groups.hpp"

#include <atomic>

#include "spmm/host/algebra/parts.hpp"

namespace block_eigs::host {

namespace {

template <int Width>
bool row_comes_in_groups(const CsrView<double>& a, LocalIndex row) {
  const Offset end = a.row_offsets[row + 1];
  if ((end - a.row_offsets[row]) % Width != 0) return false;
  for (Offset first = a.row_offsets[row]; first < end; first += Width) {
    const LocalIndex column = a.column_indices[first];
    bool fits = column % Width == 0;
    for (int g = 1; g < Width; ++g) fits = fits && a.column_indices[first + g] == column + g;
    if (!fits) return false;
  }
  return true;
}

/// Where there are no groups, one of the first rows tells.
template <int Width>
bool comes_in_groups(const CsrView<double>& a) {
  if (a.columns % Width != 0 || a.rows == 0) return false;
  std::atomic<bool> all = true;
  for_parts(a.rows, [&](LocalIndex begin, LocalIndex end) {
    for (LocalIndex row = begin; row < end; ++row) {
      if (row_comes_in_groups<Width>(a, row)) continue;
      all = false;
      return;
    }
  });
  return all;
}

}  // namespace

int group_width(const CsrView<double>& a) {
  if (comes_in_groups<6>(a)) return 6;
  if (comes_in_groups<3>(a)) return 3;
  return comes_in_groups<2>(a) ? 2 : 1;
}

}  // namespace block_eigs::host
