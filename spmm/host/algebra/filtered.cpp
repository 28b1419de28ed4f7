#include <algorithm>
#include <cstddef>

#include "spmm/host/algebra/aggregation.hpp"
#include "spmm/host/algebra/collected_rows.hpp"
#include "spmm/host/algebra/strength.hpp"

namespace block_eigs::host {

namespace {

/// Where entries go.
struct Filter {
  CsrView<double> a;
  SquaredNorms squares;
  Strength strength;
  LocalIndex unknowns;

  /// Whether entry k, in a row of node i, is on the diagonal, zero or strong.
  bool stays(LocalIndex i, Offset k) const {
    const LocalIndex j = a.column_indices[k] / unknowns;
    if (i == j) return true;
    const double squared = squares[unknowns == 1 ? k : block_of(i, j)];
    return squared == 0.0 || strength.is_strong(i, j, squared);
  }
  Offset block_of(LocalIndex i, LocalIndex j) const {
    const LocalIndex* const columns = squares.view.column_indices;
    return std::lower_bound(columns + squares.view.row_offsets[i], columns + squares.view.row_offsets[i + 1], j) -
           columns;
  }
  LocalIndex place_of(LocalIndex i, Offset k) const {
    const LocalIndex column = a.column_indices[k];
    return stays(i, k) ? column : i * unknowns + column % unknowns;
  }
  /// Whether couplings to other nodes are left, and the diagonal entry keeps its sign and is more than rounding
  /// errors of what it was.
  bool is_sound(LocalIndex row) const {
    const LocalIndex node = row / unknowns;
    bool coupled = false;
    double before = 0.0;
    double after = 0.0;
    for (Offset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
      const LocalIndex place = place_of(node, k);
      if (place / unknowns != node) coupled = coupled || a.values[k] != 0.0;
      if (place != row) continue;
      if (a.column_indices[k] == row) before = a.values[k];
      after += a.values[k];
    }
    const double least = least_kept_of_diagonal * before;
    return coupled && (before > 0.0 ? after > least : before < 0.0 && after < least);
  }
};

}  // namespace

CsrBuffers<double> filtered(const std::shared_ptr<Device>& device, const CsrView<double>& a, int unknowns,
                            const CouplingStrength& strength) {
  const Filter filter{
      a, squares_of(a, strength, unknowns), {strength.norms.data(), strength.squared_threshold}, unknowns};
  const auto row = [&](LocalIndex i, RowSums& sums) {
    const LocalIndex node = i / unknowns;
    const bool stays = filter.strength.is_hub(node) || !filter.is_sound(i);
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
      sums.add(stays ? a.column_indices[k] : filter.place_of(node, k), a.values[k]);
  };
  return *collect_rows(device, a.rows, a.columns, row);
}

}  // namespace block_eigs::host
