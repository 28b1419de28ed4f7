#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "spmm/cuda/algebra/lanes.cuh"
#include "spmm/cuda/algebra/row_table.cuh"
#include "spmm/cuda/algebra/scan.hpp"
#include "spmm/device/csr_buffers.hpp"

namespace block_eigs::cuda {

// Rows that are sums of sparse rows: row i is made of source.terms(i) terms, and term t is a factor times
// `length` entries from `begin` on, whose columns ascend. Terms are added one after the other, the entries of one
// term side by side: no two lanes meet in a place, and the order of additions is that of the terms.

struct Term {
  double factor = 0.0;
  Offset begin = 0;
  LocalIndex length = 0;
};

/// What rows come to at most, class by class.
struct RowBounds {
  std::array<LocalIndex, RowClasses::count> rows{};
  LocalIndex largest = 0;
};

/// Rows to work on: all, or those of a list.
struct RowList {
  const LocalIndex* rows = nullptr;
  LocalIndex count = 0;

  __device__ LocalIndex operator[](LocalIndex i) const { return rows == nullptr ? i : rows[i]; }
};

struct TableMemory {
  int slots = 0;
  LocalIndex* keys = nullptr;  ///< null: shared memory
  double* values = nullptr;
};

template <int L>
struct LaneGroup {
  int lane = static_cast<int>(threadIdx.x) % L;
  int group = static_cast<int>(threadIdx.x) / L;
  unsigned lanes = L == 32 ? ~0u : ((1u << L % 32) - 1) << (threadIdx.x % 32 / L * L);
};

template <int L, class Source>
__global__ void bound_rows(Source source, LocalIndex rows, LocalIndex columns, LocalIndex* bounds) {
  const LaneGroup<L> own;
  const auto row = static_cast<LocalIndex>((static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / L);
  if (row >= rows) return;
  Offset sum = 0;
  const Offset terms = source.terms(row);
  for (Offset t = own.lane; t < terms; t += L) sum += source.template term<false>(row, t).length;
  for (int distance = L / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(own.lanes, sum, distance, L);
  if (own.lane == 0) bounds[row] = static_cast<LocalIndex>(min(sum, static_cast<Offset>(columns)));
}

/// Rows of few columns, a thread each, with a list of them in shared memory.
template <int Slots, bool Fill, class Source>
__global__ void sum_short_rows(Source source, RowList list, LocalIndex* counts, const Offset* offsets,
                               LocalIndex* columns, double* values) {
  constexpr int threads = 128;
  __shared__ double sums[Fill ? Slots * threads : 1];
  __shared__ LocalIndex keys[Slots * threads];
  const auto i = static_cast<LocalIndex>(blockIdx.x * threads + threadIdx.x);
  if (i >= list.count) return;
  const LocalIndex row = list[i];
  double* const own_sums = sums + (Fill ? threadIdx.x : 0);
  LocalIndex* const own_keys = keys + threadIdx.x;
  int count = 0;
  const Offset terms = source.terms(row);
  for (Offset t = 0; t < terms; ++t) {
    const Term term = source.template term<Fill>(row, t);
    for (LocalIndex e = 0; e < term.length; ++e) {
      const LocalIndex column = source.column(term.begin + e);
      int at = 0;
      while (at < count && own_keys[at * threads] != column) ++at;
      if (at == count) {
        own_keys[at * threads] = column;
        if (Fill) own_sums[at * threads] = 0.0;
        ++count;
      }
      if (Fill) own_sums[at * threads] += term.factor * source.value(term.begin + e);
    }
  }
  if (!Fill) {
    counts[row] = count;
    return;
  }
  const Offset begin = offsets[row];
  for (int entry = 0; entry < count; ++entry) {
    const LocalIndex column = own_keys[entry * threads];
    int place = 0;
    for (int other = 0; other < count; ++other) place += own_keys[other * threads] < column ? 1 : 0;
    columns[begin + place] = column;
    values[begin + place] = own_sums[entry * threads];
  }
}

/// Counts are -1 where the table turns out to be too small.
template <int L, bool Fill, class Source>
__global__ void sum_rows(Source source, RowList list, TableMemory memory, LocalIndex* counts,
                         const Offset* offsets, LocalIndex* columns, double* values) {
  extern __shared__ double shared[];
  const LaneGroup<L> own;
  const int groups = static_cast<int>(blockDim.x) / L;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * groups + own.group;
  RowTable table{nullptr, nullptr, memory.slots};
  if (memory.keys != nullptr) {
    table.keys = memory.keys + first * memory.slots;
    if (Fill) table.values = memory.values + first * memory.slots;
  } else {
    if (Fill) table.values = shared + own.group * memory.slots;
    table.keys =
        reinterpret_cast<LocalIndex*>(shared + (Fill ? groups * memory.slots : 0)) + own.group * memory.slots;
  }
  for (std::int64_t i = first; i < list.count; i += static_cast<std::int64_t>(gridDim.x) * groups) {
    const LocalIndex row = list[static_cast<LocalIndex>(i)];
    table.clear<L>(own.lane);
    __syncwarp(own.lanes);
    int found = 0;
    bool full = false;
    const Offset terms = source.terms(row);
    for (Offset t = 0; t < terms && !full; t += L) {
      Term mine;
      if (t + own.lane < terms) mine = source.template term<Fill>(row, t + own.lane);
      const int here = static_cast<int>(min(static_cast<Offset>(L), terms - t));
      for (int j = 0; j < here; ++j) {
        const Offset begin = __shfl_sync(own.lanes, mine.begin, j, L);
        const LocalIndex length = __shfl_sync(own.lanes, mine.length, j, L);
        const double factor = Fill ? __shfl_sync(own.lanes, mine.factor, j, L) : 0.0;
        for (LocalIndex e = own.lane; e < length; e += L) {
          const int place = table.place_of(source.column(begin + e), found);
          if (Fill) {
            table.values[place] += factor * source.value(begin + e);
          } else if (place < 0) {
            full = true;
          }
        }
        if (Fill) __syncwarp(own.lanes);
      }
      if (!Fill) full = __any_sync(own.lanes, full) != 0;
    }
    if (!Fill) {
      for (int distance = L / 2; distance > 0; distance /= 2)
        found += __shfl_xor_sync(own.lanes, found, distance, L);
      if (own.lane == 0) counts[row] = full ? -1 : found;
    } else {
      const int length = table.compact<L>(own.lane, own.lanes);
      table.sort<L>(length, own.lane, own.lanes);
      const Offset begin = offsets[row];
      for (int e = own.lane; e < length; e += L) {
        columns[begin + e] = table.keys[e];
        values[begin + e] = table.values[e];
      }
    }
    __syncwarp(own.lanes);
  }
}

/// How many rows there are of each class, and the largest need. Waits.
RowBounds survey(const std::shared_ptr<CudaDevice>& gpu, const LocalIndex* needs, LocalIndex rows);
/// Rows class after class.
Buffer<LocalIndex> list_by_class(const std::shared_ptr<CudaDevice>& gpu, const LocalIndex* needs, LocalIndex rows,
                                 const RowBounds& survey);

/// Where the results of sum_rows go: counts, or columns and values.
struct RowResults {
  LocalIndex* counts = nullptr;
  const Offset* offsets = nullptr;
  LocalIndex* columns = nullptr;
  double* values = nullptr;
};

template <bool Fill, class Source>
void launch_short_rows(cudaStream_t stream, const Source& source, const RowList& list, LocalIndex largest,
                       const RowResults& to) {
  const unsigned blocks = blocks_for(list.count, 128);
  if (largest <= RowClasses::longest_list / 2) {
    sum_short_rows<RowClasses::longest_list / 2, Fill>
        <<<blocks, 128, 0, stream>>>(source, list, to.counts, to.offsets, to.columns, to.values);
  } else {
    sum_short_rows<RowClasses::longest_list, Fill>
        <<<blocks, 128, 0, stream>>>(source, list, to.counts, to.offsets, to.columns, to.values);
  }
  check_launch("sums of short rows");
}

/// Launches sum_rows for every class that has rows.
template <int L, bool Fill, class Source>
void sum_all_rows(const std::shared_ptr<CudaDevice>& gpu, const Source& source, LocalIndex rows,
                  const LocalIndex* needs, RowBounds survey, const RowResults& to) {
  const cudaStream_t stream = gpu->stream(Queue::compute);
  // Where most rows are of the largest class the others go with them.
  int top = RowClasses::count - 1;
  while (top > 0 && survey.rows[static_cast<std::size_t>(top)] == 0) --top;
  const bool one_class = top < RowClasses::count - 1 && survey.rows[static_cast<std::size_t>(top)] > rows / 2 &&
                         std::accumulate(survey.rows.begin(), survey.rows.end(), std::int64_t{0}) == rows;
  if (one_class) {
    survey.rows.fill(0);
    survey.rows[static_cast<std::size_t>(top)] = rows;
  }
  Buffer<LocalIndex> lists;
  if (!one_class) lists = list_by_class(gpu, needs, rows, survey);
  const auto kernel = sum_rows<L, Fill, Source>;
  constexpr int entry_bytes = sizeof(LocalIndex) + (Fill ? sizeof(double) : 0);
  LocalIndex before = 0;
  for (int c = 0; c < RowClasses::count; ++c) {
    const RowList list{one_class ? nullptr : lists.data() + before, survey.rows[static_cast<std::size_t>(c)]};
    before += list.count;
    if (list.count == 0) continue;
    if (c == 0) {
      launch_short_rows<Fill>(stream, source, list, survey.largest, to);
      continue;
    }
    TableMemory memory{RowClasses::slots(c)};
    if (memory.slots > 0) {
      const int groups = std::clamp(48 * 1024 / (memory.slots * entry_bytes), 1, 128 / L);
      const int bytes = groups * memory.slots * entry_bytes;
      if (bytes > 48 * 1024) gpu->allow_shared_memory(reinterpret_cast<const void*>(kernel), bytes);
      kernel<<<blocks_for(list.count, groups), groups * L, bytes, stream>>>(source, list, memory, to.counts,
                                                                            to.offsets, to.columns, to.values);
      check_launch("sums of rows");
      continue;
    }
    memory.slots = static_cast<int>(std::bit_ceil(static_cast<std::uint32_t>(survey.largest) * 4 / 3 + 1));
    const int groups = static_cast<int>(std::min<LocalIndex>(list.count, 2 * gpu->multiprocessors()));
    const std::size_t entries = static_cast<std::size_t>(groups) * static_cast<std::size_t>(memory.slots);
    Buffer<LocalIndex> keys(gpu, entries);
    Buffer<double> sums(gpu, Fill ? entries : 0);
    memory.keys = keys.data();
    memory.values = sums.data();
    kernel<<<static_cast<unsigned>(groups), L, 0, stream>>>(source, list, memory, to.counts, to.offsets,
                                                            to.columns, to.values);
    check_launch("sums of long rows");
  }
}

/// What is left to count where the tables of a first try were too small: `bounds` there, and no need elsewhere.
void keep_failed(const std::shared_ptr<CudaDevice>& gpu, const LocalIndex* counts, LocalIndex rows,
                 const LocalIndex* bounds, LocalIndex* needs);
/// RowClasses::hoped_for each of them.
void hope_for(const std::shared_ptr<CudaDevice>& gpu, const LocalIndex* bounds, LocalIndex rows,
              LocalIndex* needs);

/// The lengths of rows. Waits.
template <int L, class Source>
Buffer<LocalIndex> count_rows(const std::shared_ptr<CudaDevice>& gpu, const Source& source, LocalIndex rows,
                              LocalIndex columns) {
  const auto size = static_cast<std::size_t>(rows);
  Buffer<LocalIndex> bounds(gpu, size);
  Buffer<LocalIndex> needs(gpu, size);
  Buffer<LocalIndex> counts(gpu, size);
  if (rows == 0) return counts;
  bound_rows<L><<<blocks_for(std::int64_t{rows} * L), block_threads, 0, gpu->stream(Queue::compute)>>>(
      source, rows, columns, bounds.data());
  check_launch("bounds of rows");
  hope_for(gpu, bounds.data(), rows, needs.data());
  const RowBounds hoped = survey(gpu, needs.data(), rows);
  sum_all_rows<L, false>(gpu, source, rows, needs.data(), hoped, {counts.data()});
  if (hoped.largest < 48) return counts;  // no need was less than its bound
  keep_failed(gpu, counts.data(), rows, bounds.data(), needs.data());
  const RowBounds failed = survey(gpu, needs.data(), rows);
  if (failed.largest > 0) sum_all_rows<L, false>(gpu, source, rows, needs.data(), failed, {counts.data()});
  return counts;
}

/// The matrix whose rows `source` describes; nothing where it would have more than `most_entries`. `mean`: entries
/// of a term. Waits for counts, two or three times.
template <class Source>
std::optional<CsrBuffers<double>> make_rows(const std::shared_ptr<CudaDevice>& gpu, const Source& source,
                                            LocalIndex rows, LocalIndex columns, double mean,
                                            Offset most_entries) {
  auto pattern = std::make_shared<CsrPattern>();
  pattern->rows = rows;
  pattern->columns = columns;
  Buffer<double> values;
  with_lanes(mean, [&](auto lanes) {
    constexpr int L = lanes;
    const Buffer<LocalIndex> counts = count_rows<L>(gpu, source, rows, columns);
    pattern->row_offsets = offsets_of(gpu, counts.data(), rows);
    gpu->copy_to_host(&pattern->nonzeros, pattern->row_offsets.data() + rows, sizeof(Offset), Queue::compute);
    const RowBounds exact = survey(gpu, counts.data(), rows);
    if (pattern->nonzeros > most_entries) return;
    pattern->column_indices = Buffer<LocalIndex>(gpu, static_cast<std::size_t>(pattern->nonzeros));
    values = Buffer<double>(gpu, static_cast<std::size_t>(pattern->nonzeros));
    const RowResults to{nullptr, pattern->row_offsets.data(), pattern->column_indices.data(), values.data()};
    sum_all_rows<L, true>(gpu, source, rows, counts.data(), exact, to);
  });
  if (pattern->nonzeros > most_entries) return std::nullopt;
  return CsrBuffers<double>{std::move(pattern), std::move(values)};
}

}  // namespace block_eigs::cuda
