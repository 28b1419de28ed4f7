#include <algorithm>
#include <cstddef>

#include "spmm/host/algebra/aggregation.hpp"
#include "spmm/host/algebra/collected_rows.hpp"
#include "spmm/host/algebra/strength.hpp"

namespace block_eigs::host {

namespace {

/// Where entries go. The unknowns of a node are compiled in, so that columns are not divided by a number that the
/// compiler does not know; 0 for any number.
template <int Unknowns>
class Filter {
 public:
  Filter(const CsrView<double>& a, const CouplingStrength& strength, int unknowns)
      : a_(a),
        squares_(squares_of(a, strength, unknowns)),
        strength_{strength.norms.data(), strength.squared_threshold},
        any_unknowns_(unknowns) {}

  const CsrView<double>& matrix() const { return a_; }

  /// Calls visit(place, k) for the entries of a row.
  template <class Visit>
  void visit_row(LocalIndex row, const Visit& visit) const {
    const bool changes = !strength_.is_hub(node_of(row)) && is_sound(row);
    if (changes) return visit_places(row, visit);
    for (Offset k = a_.row_offsets[row]; k < a_.row_offsets[row + 1]; ++k) visit(a_.column_indices[k], k);
  }

 private:
  LocalIndex unknowns() const { return Unknowns > 0 ? Unknowns : any_unknowns_; }
  LocalIndex node_of(LocalIndex row) const { return row / unknowns(); }

  /// Whether entry k, in a row of node i, is on the diagonal, zero or strong, its column being one of node j.
  bool stays(LocalIndex i, LocalIndex j, Offset k) const {
    if (i == j) return true;
    const double squared = squares_[Unknowns == 1 ? k : block_of(i, j)];
    return squared == 0.0 || strength_.is_strong(i, j, squared);
  }
  Offset block_of(LocalIndex i, LocalIndex j) const {
    const LocalIndex* const columns = squares_.view.column_indices;
    return std::lower_bound(columns + squares_.view.row_offsets[i], columns + squares_.view.row_offsets[i + 1],
                            j) -
           columns;
  }
  template <class Visit>
  void visit_places(LocalIndex row, const Visit& visit) const {
    const LocalIndex i = node_of(row);
    LocalIndex last = -1;  // whose entries follow one another
    bool last_stays = false;
    for (Offset k = a_.row_offsets[row]; k < a_.row_offsets[row + 1]; ++k) {
      const LocalIndex column = a_.column_indices[k];
      const LocalIndex j = node_of(column);
      if (j != last) last_stays = stays(i, j, k);
      last = j;
      visit(last_stays ? column : i * unknowns() + (column - j * unknowns()), k);
    }
  }
  /// Whether couplings to other nodes are left, and the diagonal entry keeps its sign and is more than rounding
  /// errors of what it was.
  bool is_sound(LocalIndex row) const {
    const LocalIndex first = node_of(row) * unknowns();
    bool coupled = false;
    double before = 0.0;
    double after = 0.0;
    visit_places(row, [&](LocalIndex place, Offset k) {
      if (place < first || place >= first + unknowns()) coupled = coupled || a_.values[k] != 0.0;
      if (place != row) return;
      if (a_.column_indices[k] == row) before = a_.values[k];
      after += a_.values[k];
    });
    const double least = least_kept_of_diagonal * before;
    return coupled && (before > 0.0 ? after > least : before < 0.0 && after < least);
  }

  CsrView<double> a_;
  SquaredNorms squares_;
  Strength strength_;
  LocalIndex any_unknowns_;
};

template <int Unknowns>
CsrBuffers<double> filtered_by(const std::shared_ptr<Device>& device, const Filter<Unknowns>& filter) {
  const CsrView<double>& a = filter.matrix();
  const auto row = [&](LocalIndex i, RowSums<>& sums) {
    filter.visit_row(i, [&](LocalIndex place, Offset k) { sums.add(place, a.values[k]); });
  };
  return *collect_rows(device, a.rows, a.columns, GroupWidth<1>{}, row);
}

}  // namespace

CsrBuffers<double> filtered(const std::shared_ptr<Device>& device, const CsrView<double>& a, int unknowns,
                            const CouplingStrength& strength) {
  if (unknowns == 1) return filtered_by(device, Filter<1>(a, strength, unknowns));
  if (unknowns == 3) return filtered_by(device, Filter<3>(a, strength, unknowns));
  return filtered_by(device, Filter<0>(a, strength, unknowns));
}

}  // namespace block_eigs::host
