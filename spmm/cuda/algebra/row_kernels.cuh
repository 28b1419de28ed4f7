#pragma once

#include <cstdint>

#include "spmm/cuda/algebra/row_table.cuh"
#include "spmm/types.hpp"

namespace block_eigs::cuda {

// Rows that are sums of sparse rows: row i is made of source.terms(i) terms, and term t is a factor times
// `length` entries from `begin` on, whose columns ascend. Terms are added one after the other, the entries of one
// term side by side: no two lanes meet in a place, and the order of additions is that of the terms.

struct Term {
  double factor = 0.0;
  Offset begin = 0;
  LocalIndex length = 0;
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
__global__ void bound_rows(Source source, LocalIndex rows, LocalIndex* bounds) {
  const LaneGroup<L> own;
  const auto row = static_cast<LocalIndex>((static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / L);
  if (row >= rows) return;
  Offset sum = 0;
  const Offset terms = source.terms(row);
  for (Offset t = own.lane; t < terms; t += L) sum += source.template term<false>(row, t).length;
  for (int distance = L / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(own.lanes, sum, distance, L);
  if (own.lane == 0) bounds[row] = static_cast<LocalIndex>(min(sum, static_cast<Offset>(RowTable::empty)));
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

}  // namespace block_eigs::cuda
