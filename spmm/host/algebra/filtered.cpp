#include <algorithm>
#include <cstddef>

#include "spmm/host/algebra/aggregation.hpp"
#include "spmm/host/algebra/collected_rows.hpp"
#include "spmm/host/algebra/strength.hpp"

namespace block_eigs::host {

namespace {

/// Where entries go. Of nodes with one unknown, known when compiled, no column needs to be divided.
template <bool OneUnknown>
struct Filter {
  CsrView<double> a;
  SquaredNorms squares;
  Strength strength;
  LocalIndex unknowns_of_node;

  LocalIndex node_of(LocalIndex row) const { return OneUnknown ? row : row / unknowns_of_node; }

  /// Whether entry k, in a row of node i, is on the diagonal, zero or strong.
  bool stays(LocalIndex i, Offset k) const {
    const LocalIndex j = node_of(a.column_indices[k]);
    if (i == j) return true;
    const double squared = squares[OneUnknown ? k : block_of(i, j)];
    return squared == 0.0 || strength.is_strong(i, j, squared);
  }
  Offset block_of(LocalIndex i, LocalIndex j) const {
    const LocalIndex* const columns = squares.view.column_indices;
    return std::lower_bound(columns + squares.view.row_offsets[i], columns + squares.view.row_offsets[i + 1], j) -
           columns;
  }
  LocalIndex place_of(LocalIndex i, Offset k) const {
    const LocalIndex column = a.column_indices[k];
    if (stays(i, k)) return column;
    return OneUnknown ? i : i * unknowns_of_node + column % unknowns_of_node;
  }
  /// Whether couplings to other nodes are left, and the diagonal entry keeps its sign and is more than rounding
  /// errors of what it was.
  bool is_sound(LocalIndex row) const {
    const LocalIndex node = node_of(row);
    bool coupled = false;
    double before = 0.0;
    double after = 0.0;
    for (Offset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
      const LocalIndex place = place_of(node, k);
      if (node_of(place) != node) coupled = coupled || a.values[k] != 0.0;
      if (place != row) continue;
      if (a.column_indices[k] == row) before = a.values[k];
      after += a.values[k];
    }
    const double least = least_kept_of_diagonal * before;
    return coupled && (before > 0.0 ? after > least : before < 0.0 && after < least);
  }
};

template <bool OneUnknown>
CsrBuffers<double> filtered_by(const std::shared_ptr<Device>& device, const Filter<OneUnknown>& filter) {
  const CsrView<double>& a = filter.a;
  const auto row = [&](LocalIndex i, RowSums& sums) {
    const LocalIndex node = filter.node_of(i);
    const bool stays = filter.strength.is_hub(node) || !filter.is_sound(i);
    LocalIndex place = 0;
    sums.add_rows(a.row_offsets[i], a.row_offsets[i + 1], [&](Offset k) {
      place = stays ? a.column_indices[k] : filter.place_of(node, k);
      return ScaledRow{1.0, &place, a.values + k, 1};
    });
  };
  return *collect_rows(device, a.rows, a.columns, row);
}

}  // namespace

CsrBuffers<double> filtered(const std::shared_ptr<Device>& device, const CsrView<double>& a, int unknowns,
                            const CouplingStrength& strength) {
  const SquaredNorms squares = squares_of(a, strength, unknowns);
  const Strength asked{strength.norms.data(), strength.squared_threshold};
  if (unknowns == 1) return filtered_by(device, Filter<true>{a, squares, asked, 1});
  return filtered_by(device, Filter<false>{a, squares, asked, unknowns});
}

}  // namespace block_eigs::host
