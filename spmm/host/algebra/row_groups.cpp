#include "spmm/host/algebra/row_groups.hpp"

#include <array>

namespace block_eigs::host {

namespace {

bool comes_in_groups(const CsrView<double>& a, LocalIndex row, int width) {
  const Offset end = a.row_offsets[row + 1];
  if ((end - a.row_offsets[row]) % width != 0) return false;
  for (Offset first = a.row_offsets[row]; first < end; first += width) {
    const LocalIndex column = a.column_indices[first];
    if (column % width != 0) return false;
    for (int g = 1; g < width; ++g) {
      if (a.column_indices[first + g] != column + g) return false;
    }
  }
  return true;
}

}  // namespace

int group_width(const CsrView<double>& a) {
  constexpr std::array widths{6, 3, 2};
  for (const int width : widths) {
    bool fits = a.columns % width == 0 && a.rows > 0;
    // Where there are none, one of the first rows tells.
    for (LocalIndex row = 0; fits && row < a.rows; ++row) fits = comes_in_groups(a, row, width);
    if (fits) return width;
  }
  return 1;
}

}  // namespace block_eigs::host
