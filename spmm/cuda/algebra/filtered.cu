#include <limits>

#include "spmm/cuda/algebra/lanes.cuh"
#include "spmm/cuda/algebra/operations.hpp"
#include "spmm/cuda/algebra/strength.cuh"
#include "spmm/cuda/algebra/sum_rows.cuh"

namespace block_eigs::cuda {

namespace {

/// Where entries go.
struct Filter {
  CsrView<double> a;
  SquaredNorms squares;
  Strength strength;
  LocalIndex unknowns;

  /// Whether entry k, in a row of node i, is on the diagonal, zero or strong.
  __device__ bool stays(LocalIndex i, Offset k) const {
    const LocalIndex j = a.column_indices[k] / unknowns;
    if (i == j) return true;
    const double squared = squares[unknowns == 1 ? k : block_of(i, j)];
    return squared == 0.0 || strength.is_strong(i, j, squared);
  }
  __device__ Offset block_of(LocalIndex i, LocalIndex j) const {
    Offset begin = squares.view.row_offsets[i];
    Offset end = squares.view.row_offsets[i + 1];
    while (begin < end) {
      const Offset middle = (begin + end) / 2;
      if (squares.view.column_indices[middle] < j) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }
  __device__ LocalIndex place_of(LocalIndex i, Offset k) const {
    const LocalIndex column = a.column_indices[k];
    return stays(i, k) ? column : i * unknowns + column % unknowns;
  }
  /// Whether couplings to other nodes are left, and the diagonal entry keeps its sign and is more than rounding
  /// errors of what it was.
  __device__ bool is_sound(LocalIndex row) const {
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

/// Rows of sums of entries that go to the same places; every entry of A is a term.
struct FilteredRows {
  CsrView<double> a;
  const LocalIndex* places;

  __device__ Offset terms(LocalIndex row) const { return a.row_offsets[row + 1] - a.row_offsets[row]; }
  template <bool Values>
  __device__ Term term(LocalIndex row, Offset t) const {
    return {1.0, a.row_offsets[row] + t, 1};
  }
  __device__ LocalIndex column(Offset at) const { return places[at]; }
  __device__ double value(Offset at) const { return a.values[at]; }
};

}  // namespace

CsrBuffers<double> filtered(const Gpu& gpu, const CsrView<double>& a, int unknowns,
                            const CouplingStrength& strength) {
  const Filter filter{
      a, squares_of(a, strength, unknowns), {strength.norms.data(), strength.squared_threshold}, unknowns};
  Buffer<LocalIndex> places(gpu, static_cast<std::size_t>(a.nonzeros));
  for_each(*gpu, a.rows, [filter, places = places.data()] __device__(std::int64_t item) {
    const auto row = static_cast<LocalIndex>(item);
    const LocalIndex node = row / filter.unknowns;
    const bool stays = filter.strength.is_hub(node) || !filter.is_sound(row);
    for (Offset k = filter.a.row_offsets[row]; k < filter.a.row_offsets[row + 1]; ++k)
      places[k] = stays ? filter.a.column_indices[k] : filter.place_of(node, k);
  });
  return *make_rows(gpu, FilteredRows{a, places.data()}, a.rows, a.columns, 1.0,
                    std::numeric_limits<Offset>::max());
}

}  // namespace block_eigs::cuda
