#include <algorithm>

#include "spmm/cuda/algebra/operations.hpp"
#include "spmm/cuda/algebra/sum_rows.cuh"

namespace block_eigs::cuda {

namespace {

/// Row j of B, `factor` times.
__device__ Term row_of(const CsrView<double>& b, LocalIndex j, double factor) {
  const Offset begin = b.row_offsets[j];
  return {factor, begin, static_cast<LocalIndex>(b.row_offsets[j + 1] - begin)};
}

/// Rows of A B.
struct ProductRows {
  CsrView<double> a;
  CsrView<double> b;

  __device__ Offset terms(LocalIndex row) const { return a.row_offsets[row + 1] - a.row_offsets[row]; }
  template <bool Values>
  __device__ Term term(LocalIndex row, Offset t) const {
    const Offset k = a.row_offsets[row] + t;
    return row_of(b, a.column_indices[k], Values ? a.values[k] : 0.0);
  }
  __device__ LocalIndex column(Offset at) const { return b.column_indices[at]; }
  __device__ double value(Offset at) const { return b.values[at]; }
};

/// Rows of (I - omega D^-1 A) T, but of T for hubs and where A has zeros alone.
struct SmoothedRows {
  CsrView<double> a;
  CsrView<double> t;
  const double* diagonal;
  const double* row_sums;
  const LocalIndex* hub;
  LocalIndex unknowns;
  double omega;

  __device__ Offset terms(LocalIndex row) const {
    const LocalIndex node = row / unknowns;
    return hub[node] == node || row_sums[row] == 0.0 ? 1 : 1 + a.row_offsets[row + 1] - a.row_offsets[row];
  }
  template <bool Values>
  __device__ Term term(LocalIndex row, Offset number) const {
    if (number == 0) return row_of(t, row, 1.0);
    const Offset k = a.row_offsets[row] + number - 1;
    double factor = 0.0;
    if (Values) {
      factor = -omega / fmax(fabs(diagonal[row]), 0.5 * row_sums[row]) * a.values[k];
    }
    return row_of(t, a.column_indices[k], factor);
  }
  __device__ LocalIndex column(Offset at) const { return t.column_indices[at]; }
  __device__ double value(Offset at) const { return t.values[at]; }
};

/// Rows of A, with those of B behind them in `stack`, added to the rows that `rows` has.
struct AddedRows {
  CsrView<double> stack;
  LocalIndex of_a;  ///< rows of A
  const LocalIndex* rows;
  LocalIndex of_b;

  /// The first of the rows of B that goes to `row` or behind it.
  __device__ LocalIndex first_of(LocalIndex row) const {
    LocalIndex begin = 0;
    LocalIndex end = of_b;
    while (begin < end) {
      const LocalIndex middle = (begin + end) / 2;
      if (rows[middle] < row) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }
  __device__ Offset terms(LocalIndex row) const {
    LocalIndex last = first_of(row);
    const LocalIndex first = last;
    while (last < of_b && rows[last] == row) ++last;
    return 1 + last - first;
  }
  template <bool Values>
  __device__ Term term(LocalIndex row, Offset number) const {
    if (number == 0) return row_of(stack, row, 1.0);
    return row_of(stack, of_a + first_of(row) + static_cast<LocalIndex>(number) - 1, 1.0);
  }
  __device__ LocalIndex column(Offset at) const { return stack.column_indices[at]; }
  __device__ double value(Offset at) const { return stack.values[at]; }
};

/// Rows of sums of squares, a node each; every entry of A is a term.
struct SquaredRows {
  CsrView<double> a;
  LocalIndex unknowns;

  __device__ Offset terms(LocalIndex node) const {
    return a.row_offsets[(node + 1) * unknowns] - a.row_offsets[node * unknowns];
  }
  template <bool Values>
  __device__ Term term(LocalIndex node, Offset t) const {
    const Offset k = a.row_offsets[node * unknowns] + t;
    return {Values ? a.values[k] * a.values[k] : 0.0, k, 1};
  }
  __device__ LocalIndex column(Offset at) const { return a.column_indices[at] / unknowns; }
  __device__ double value(Offset) const { return 1.0; }
};

double mean_row(const CsrView<double>& a) {
  return static_cast<double>(a.nonzeros) / std::max<LocalIndex>(a.rows, 1);
}

}  // namespace

std::optional<CsrBuffers<double>> product(const Gpu& gpu, const CsrView<double>& a, const CsrView<double>& b,
                                          Offset most_entries) {
  return make_rows(gpu, ProductRows{a, b}, a.rows, b.columns, mean_row(b), most_entries);
}

CsrBuffers<double> with_added_rows(const Gpu& gpu, const CsrView<double>& a, const CsrView<double>& b,
                                   const LocalIndex* rows) {
  const CsrBuffers<double> both = stacked(gpu, a, b);
  const AddedRows source{both.view(), a.rows, rows, b.rows};
  return *make_rows(gpu, source, a.rows, b.columns, mean_row(a), std::numeric_limits<Offset>::max());
}

CsrBuffers<double> smoothed(const Gpu& gpu, const CsrView<double>& a, const MatrixNumbers& numbers,
                            const CsrView<double>& t, const Buffer<LocalIndex>& hub, double omega) {
  const auto nodes = std::max<LocalIndex>(static_cast<LocalIndex>(hub.size()), 1);
  const SmoothedRows rows{a,
                          t,
                          numbers.diagonal.data(),
                          numbers.row_sums.data(),
                          hub.data(),
                          std::max<LocalIndex>(a.rows / nodes, 1),
                          omega};
  return *make_rows(gpu, rows, a.rows, t.columns, mean_row(t), std::numeric_limits<Offset>::max());
}

CsrBuffers<double> squared_norms(const Gpu& gpu, const CsrView<double>& a, int unknowns) {
  return *make_rows(gpu, SquaredRows{a, unknowns}, a.rows / unknowns, a.columns / unknowns, 1.0,
                    std::numeric_limits<Offset>::max());
}

}  // namespace block_eigs::cuda
