#include <algorithm>
#include <limits>
#include <utility>

#include "spmm/cuda/algebra/lanes.cuh"
#include "spmm/cuda/algebra/operations.hpp"
#include "spmm/cuda/algebra/sum_rows.cuh"

namespace block_eigs::cuda {

namespace {

constexpr Offset any_number = std::numeric_limits<Offset>::max();
constexpr std::size_t entry_bytes = sizeof(double) + sizeof(LocalIndex);

/// Some rows of A, which are the columns of R that begin with `first`.
struct Slab {
  LocalIndex first = 0;
  LocalIndex rows = 0;
};

/// Rows of C + R S, S some rows of A P. C holds what those before came to: as the first term of a row, times 1, it
/// is the sum so far to the last bit, and the terms of S go on from there.
struct AddedSlab {
  CsrView<double> c;
  CsrView<double> r;
  CsrView<double> s;
  LocalIndex first;     ///< row of A P
  const Offset* begin;  ///< where its columns begin in the rows of R
  const Offset* end;

  __device__ Offset terms(LocalIndex row) const { return 1 + end[row] - begin[row]; }
  template <bool Values>
  __device__ Term term(LocalIndex row, Offset number) const {
    if (number == 0) {
      const Offset at = c.row_offsets[row];
      return {1.0, at, static_cast<LocalIndex>(c.row_offsets[row + 1] - at)};
    }
    const Offset k = begin[row] + number - 1;
    const LocalIndex i = r.column_indices[k] - first;
    const Offset at = s.row_offsets[i];
    return {Values ? r.values[k] : 0.0, c.nonzeros + at, static_cast<LocalIndex>(s.row_offsets[i + 1] - at)};
  }
  __device__ LocalIndex column(Offset at) const {
    return at < c.nonzeros ? c.column_indices[at] : s.column_indices[at - c.nonzeros];
  }
  __device__ double value(Offset at) const { return at < c.nonzeros ? c.values[at] : s.values[at - c.nonzeros]; }
};

CsrBuffers<double> without_entries(const Gpu& gpu, LocalIndex rows, LocalIndex columns) {
  auto pattern = std::make_shared<CsrPattern>();
  pattern->rows = rows;
  pattern->columns = columns;
  pattern->row_offsets = Buffer<Offset>(gpu, static_cast<std::size_t>(rows) + 1);
  check(cudaMemsetAsync(pattern->row_offsets.data(), 0, pattern->row_offsets.size() * sizeof(Offset),
                        gpu->stream(Queue::compute)),
        "slabs of a product");
  return {std::move(pattern), Buffer<double>(gpu, 0)};
}

/// ends[i]: where the columns of row i of R that are below `column` end.
void find_ends(const Gpu& gpu, const CsrView<double>& r, LocalIndex column, Offset* ends) {
  for_each(*gpu, r.rows, [r, column, ends] __device__(std::int64_t row) {
    Offset begin = r.row_offsets[row];
    Offset end = r.row_offsets[row + 1];
    while (begin < end) {
      const Offset middle = (begin + end) / 2;
      if (r.column_indices[middle] < column) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    ends[row] = begin;
  });
}

CsrView<double> rows_of(CsrView<double> a, const Slab& slab) {
  a.row_offsets += slab.first;
  a.rows = slab.rows;
  return a;
}

/// R (A P) by slabs of rows of A P with at most `entries` each, or of one row.
std::optional<CsrBuffers<double>> by_slabs(const Gpu& gpu, const CsrView<double>& r, const CsrView<double>& a,
                                           const CsrView<double>& p, Offset most_entries, Offset entries) {
  CsrBuffers<double> c = without_entries(gpu, r.rows, p.columns);
  Buffer<Offset> begin(gpu, static_cast<std::size_t>(r.rows));
  Buffer<Offset> end(gpu, static_cast<std::size_t>(r.rows));
  find_ends(gpu, r, 0, begin.data());
  Slab slab{0, (a.rows + 1) / 2};
  while (slab.first < a.rows) {
    slab.rows = std::min(slab.rows, a.rows - slab.first);
    const auto s = product(gpu, rows_of(a, slab), p, slab.rows > 1 ? entries : any_number);
    if (!s) {
      slab.rows = (slab.rows + 1) / 2;
      continue;
    }
    find_ends(gpu, r, slab.first + slab.rows, end.data());
    const AddedSlab source{c.view(), r, s->view(), slab.first, begin.data(), end.data()};
    const double mean = static_cast<double>(s->pattern->nonzeros) / slab.rows;
    // What has too many entries already will not have fewer.
    auto sum = make_rows(gpu, source, r.rows, p.columns, mean, most_entries);
    if (!sum) return std::nullopt;
    c = std::move(*sum);
    std::swap(begin, end);
    slab.first += slab.rows;
    if (2 * s->pattern->nonzeros < entries) slab.rows = std::min(2 * slab.rows, a.rows);
  }
  return c;
}

}  // namespace

std::optional<CsrBuffers<double>> galerkin(const Gpu& gpu, const CsrView<double>& r, const CsrView<double>& a,
                                           const CsrView<double>& p, Offset most_entries,
                                           std::optional<std::size_t> room) {
  if (!room) {
    // Beside A P there will be the sum, which is of no use with many more entries than A has; in slabs twice.
    const std::size_t left = gpu->memory().free;
    const std::size_t sums = 2 * entry_bytes * static_cast<std::size_t>(std::min(most_entries, a.nonzeros));
    room = std::max(left - std::min(left, sums), left / 4);
  }
  const auto entries = static_cast<Offset>(*room / entry_bytes);
  const auto ap = product(gpu, a, p, entries);
  if (!ap) return by_slabs(gpu, r, a, p, most_entries, entries);
  return product(gpu, r, ap->view(), most_entries);
}

}  // namespace block_eigs::cuda
