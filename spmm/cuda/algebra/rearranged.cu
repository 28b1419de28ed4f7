#include <algorithm>
#include <utility>

#include "spmm/cuda/algebra/lanes.cuh"
#include "spmm/cuda/algebra/operations.hpp"
#include "spmm/cuda/algebra/scan.hpp"

namespace block_eigs::cuda {

namespace {

/// result[k] = the row of entry k.
template <int L>
__global__ void write_rows(CsrView<double> a, LocalIndex* result) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const auto row = static_cast<LocalIndex>(thread / L);
  if (row >= a.rows) return;
  for (Offset k = a.row_offsets[row] + thread % L; k < a.row_offsets[row + 1]; k += L) result[k] = row;
}

Buffer<LocalIndex> rows_of_entries(const Gpu& gpu, const CsrView<double>& a) {
  Buffer<LocalIndex> rows(gpu, static_cast<std::size_t>(a.nonzeros));
  if (a.rows == 0) return rows;
  with_lanes(static_cast<double>(a.nonzeros) / a.rows, [&](auto lanes) {
    constexpr int L = lanes;
    write_rows<L>
        <<<blocks_for(std::int64_t{a.rows} * L), block_threads, 0, gpu->stream(Queue::compute)>>>(a, rows.data());
    check_launch("rows of entries");
  });
  return rows;
}

/// Some entries of a row, by their places in it: all but [after, after + skipped).
struct RowPart {
  const LocalIndex* after;    ///< null: of all rows 0
  const LocalIndex* skipped;  ///< of every row of A
};

/// Row k of the result has that part of row list[k] of A or, without a list, of row k.
template <int L>
__global__ void copy_rows(CsrView<double> a, const LocalIndex* list, RowPart part, LocalIndex first_column,
                          LocalIndex rows, const Offset* offsets, LocalIndex* columns, double* values) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const auto k = static_cast<LocalIndex>(thread / L);
  if (k >= rows) return;
  const LocalIndex row = list != nullptr ? list[k] : k;
  const Offset count = offsets[k + 1] - offsets[k];
  const Offset after = part.after != nullptr ? part.after[row] : 0;
  for (Offset e = thread % L; e < count; e += L) {
    const Offset from = a.row_offsets[row] + e + (e < after ? 0 : part.skipped[row]);
    columns[offsets[k] + e] = a.column_indices[from] - first_column;
    values[offsets[k] + e] = a.values[from];
  }
}

/// Rows of these lengths: that part of all rows of A, or of those in `list`.
CsrBuffers<double> copied_rows(const Gpu& gpu, const CsrView<double>& a, const LocalIndex* list, RowPart part,
                               const Buffer<LocalIndex>& lengths, LocalIndex first_column, LocalIndex columns) {
  auto pattern = std::make_shared<CsrPattern>();
  const std::size_t rows = lengths.size();
  pattern->rows = static_cast<LocalIndex>(rows);
  pattern->columns = columns;
  pattern->row_offsets = offsets_of(gpu, lengths.data(), pattern->rows);
  gpu->copy_to_host(&pattern->nonzeros, pattern->row_offsets.data() + rows, sizeof(Offset), Queue::compute);
  gpu->synchronize(Queue::compute);
  const auto entries = static_cast<std::size_t>(pattern->nonzeros);
  pattern->column_indices = Buffer<LocalIndex>(gpu, entries);
  Buffer<double> values(gpu, entries);
  if (entries > 0) {
    with_lanes(static_cast<double>(entries) / static_cast<double>(rows), [&](auto lanes) {
      constexpr int L = lanes;
      copy_rows<L><<<blocks_for(std::int64_t{pattern->rows} * L), block_threads, 0, gpu->stream(Queue::compute)>>>(
          a, list, part, first_column, pattern->rows, pattern->row_offsets.data(), pattern->column_indices.data(),
          values.data());
      check_launch("rows of a part");
    });
  }
  return {std::move(pattern), std::move(values)};
}

/// Where in a row the first entry is that `stands` holds for: from there on it holds for all.
template <class Stands>
__device__ Offset first_place(const CsrView<double>& a, Offset begin, Offset end, const Stands& stands) {
  while (begin < end) {
    const Offset middle = (begin + end) / 2;
    if (stands(a.column_indices[middle])) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

}  // namespace

CsrBuffers<double> stacked(const Gpu& gpu, const CsrView<double>& a, const CsrView<double>& b) {
  auto pattern = std::make_shared<CsrPattern>();
  pattern->rows = a.rows + b.rows;
  pattern->columns = b.columns;
  pattern->nonzeros = a.nonzeros + b.nonzeros;
  const auto entries = static_cast<std::size_t>(pattern->nonzeros);
  pattern->row_offsets = Buffer<Offset>(gpu, static_cast<std::size_t>(pattern->rows) + 1);
  pattern->column_indices = Buffer<LocalIndex>(gpu, entries);
  Buffer<double> values(gpu, entries);
  const auto copy = [&](const CsrView<double>& from, Offset to) {
    const auto count = static_cast<std::size_t>(from.nonzeros);
    if (count == 0) return;
    gpu->copy_within(pattern->column_indices.data() + to, from.column_indices, count * sizeof(LocalIndex),
                     Queue::compute);
    gpu->copy_within(values.data() + to, from.values, count * sizeof(double), Queue::compute);
  };
  copy(a, 0);
  copy(b, a.nonzeros);
  for_each(*gpu, std::int64_t{pattern->rows} + 1,
           [a, b, to = pattern->row_offsets.data()] __device__(std::int64_t i) {
             to[i] = i < a.rows ? a.row_offsets[i] : a.nonzeros + b.row_offsets[i - a.rows];
           });
  return {std::move(pattern), std::move(values)};
}

CsrBuffers<double> with_columns(const Gpu& gpu, const CsrView<double>& a, LocalIndex own,
                                const Buffer<LocalIndex>& places, LocalIndex columns) {
  auto pattern = std::make_shared<CsrPattern>();
  const auto entries = static_cast<std::size_t>(a.nonzeros);
  pattern->rows = a.rows;
  pattern->columns = columns;
  pattern->nonzeros = a.nonzeros;
  pattern->row_offsets = Buffer<Offset>(gpu, static_cast<std::size_t>(a.rows) + 1);
  pattern->column_indices = Buffer<LocalIndex>(gpu, entries);
  Buffer<double> values(gpu, entries);
  gpu->copy_within(pattern->row_offsets.data(), a.row_offsets, pattern->row_offsets.size() * sizeof(Offset),
                   Queue::compute);
  if (entries > 0) gpu->copy_within(values.data(), a.values, entries * sizeof(double), Queue::compute);
  for_each(*gpu, a.nonzeros,
           [from = a.column_indices, to = pattern->column_indices.data(), places = places.data(),
            own] __device__(std::int64_t k) { to[k] = from[k] < own ? from[k] : places[from[k] - own]; });
  return {std::move(pattern), std::move(values)};
}

SplitColumns split_columns(const Gpu& gpu, const CsrView<double>& a, LocalIndex own, LocalIndex below) {
  const auto rows = static_cast<std::size_t>(a.rows);
  Buffer<LocalIndex> before(gpu, rows);  // other entries that come first
  Buffer<LocalIndex> own_lengths(gpu, rows);
  Buffer<LocalIndex> has_others(gpu, rows);
  for_each(*gpu, a.rows,
           [a, own, below, before = before.data(), lengths = own_lengths.data(),
            flags = has_others.data()] __device__(std::int64_t i) {
             const Offset first = a.row_offsets[i];
             const Offset last = a.row_offsets[i + 1];
             const auto is_below = [&](LocalIndex column) { return column >= own && column - own < below; };
             const Offset begin =
                 first_place(a, first, last, [&](LocalIndex column) { return !is_below(column); });
             const Offset end = first_place(a, begin, last, [&](LocalIndex column) { return column >= own; });
             before[i] = static_cast<LocalIndex>(begin - first);
             lengths[i] = static_cast<LocalIndex>(end - begin);
             flags[i] = end - begin < last - first ? 1 : 0;
           });
  Buffer<LocalIndex> places(gpu, rows);
  const LocalIndex count = number_flags(gpu, has_others, places);
  Buffer<LocalIndex> other_lengths(gpu, static_cast<std::size_t>(count));
  SplitColumns result;
  result.rows = Buffer<LocalIndex>(gpu, static_cast<std::size_t>(count));
  for_each(*gpu, a.rows,
           [a, flags = has_others.data(), places = places.data(), lengths = own_lengths.data(),
            list = result.rows.data(), others = other_lengths.data()] __device__(std::int64_t i) {
             if (flags[i] == 0) return;
             list[places[i]] = static_cast<LocalIndex>(i);
             others[places[i]] = static_cast<LocalIndex>(a.row_offsets[i + 1] - a.row_offsets[i]) - lengths[i];
           });
  result.own = copied_rows(gpu, a, nullptr, {nullptr, before.data()}, own_lengths, 0, own);
  result.others = copied_rows(gpu, a, result.rows.data(), {before.data(), own_lengths.data()}, other_lengths, own,
                              a.columns - own);
  return result;
}

CsrBuffers<double> transpose(const Gpu& gpu, const CsrView<double>& a) {
  const SortedItems sorted = sort_by_key(gpu, reinterpret_cast<const std::uint32_t*>(a.column_indices), a.nonzeros,
                                         static_cast<std::uint32_t>(std::max<LocalIndex>(a.columns - 1, 0)));
  const Buffer<LocalIndex> rows = rows_of_entries(gpu, a);
  auto pattern = std::make_shared<CsrPattern>();
  pattern->rows = a.columns;
  pattern->columns = a.rows;
  pattern->nonzeros = a.nonzeros;
  pattern->row_offsets = group_offsets(gpu, sorted.keys, a.columns);
  pattern->column_indices = Buffer<LocalIndex>(gpu, static_cast<std::size_t>(a.nonzeros));
  Buffer<double> values(gpu, static_cast<std::size_t>(a.nonzeros));
  for_each(*gpu, a.nonzeros,
           [items = sorted.items.data(), rows = rows.data(), from = a.values, to = values.data(),
            columns = pattern->column_indices.data()] __device__(std::int64_t k) {
             const std::uint32_t item = items[k];
             columns[k] = rows[item];
             to[k] = from[item];
           });
  return {std::move(pattern), std::move(values)};
}

Offset longest_row(const Gpu& gpu, const CsrView<double>& a) {
  Buffer<unsigned long long> longest(gpu, 1);
  unsigned long long result = 0;
  longest.upload(&result);
  for_each(*gpu, a.rows, [a, longest = longest.data()] __device__(std::int64_t i) {
    const auto length = static_cast<unsigned long long>(a.row_offsets[i + 1] - a.row_offsets[i]);
    if (length > *static_cast<volatile unsigned long long*>(longest)) atomicMax(longest, length);
  });
  longest.download(&result);
  return static_cast<Offset>(result);
}

CsrBuffers<double> shifted(const Gpu& gpu, const CsrView<double>& a, std::shared_ptr<const CsrPattern> pattern,
                           double shift) {
  Buffer<double> values(gpu, static_cast<std::size_t>(a.nonzeros));
  if (a.nonzeros > 0) {
    gpu->copy_within(values.data(), a.values, static_cast<std::size_t>(a.nonzeros) * sizeof(double),
                     Queue::compute);
  }
  if (shift != 0.0) {
    for_each(*gpu, a.rows, [a, values = values.data(), shift] __device__(std::int64_t i) {
      for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
        if (a.column_indices[k] == i) values[k] -= shift;
      }
    });
  }
  return {std::move(pattern), std::move(values)};
}

Buffer<float> to_float(const Gpu& gpu, const Buffer<double>& values) {
  Buffer<float> result(gpu, values.size());
  for_each(*gpu, static_cast<std::int64_t>(values.size()),
           [from = values.data(), to = result.data()] __device__(std::int64_t k) {
             to[k] = static_cast<float>(from[k]);
           });
  return result;
}

}  // namespace block_eigs::cuda
