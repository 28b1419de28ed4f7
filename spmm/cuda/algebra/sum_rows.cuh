#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "spmm/cuda/algebra/lanes.cuh"
#include "spmm/cuda/algebra/row_kernels.cuh"
#include "spmm/cuda/algebra/row_table.cuh"
#include "spmm/cuda/algebra/scan.hpp"
#include "spmm/device/csr_buffers.hpp"

namespace block_eigs::cuda {

/// How many rows there are of each class, and the most columns of one.
struct RowBounds {
  std::array<LocalIndex, RowClasses::count> rows{};
  LocalIndex largest = 0;
};

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

// What rows need, from the numbers of entries of their terms.

/// For a first try: RowClasses::hoped_for.
void hope_for(const std::shared_ptr<CudaDevice>& gpu, const LocalIndex* entries, LocalIndex rows,
              LocalIndex columns, LocalIndex* needs);
/// Where the tables of the first try were too small what is needed at most, and nothing elsewhere.
void keep_failed(const std::shared_ptr<CudaDevice>& gpu, const LocalIndex* counts, LocalIndex rows,
                 const LocalIndex* entries, LocalIndex columns, LocalIndex* needs);
/// For what was counted: RowClasses::need.
void need_for_sums(const std::shared_ptr<CudaDevice>& gpu, const LocalIndex* counts, LocalIndex rows,
                   const LocalIndex* entries, LocalIndex* needs);

/// What is known of rows before they are summed.
struct RowLengths {
  Buffer<LocalIndex> counts;
  Buffer<LocalIndex> needs;  ///< of tables
};

/// Waits.
template <int L, class Source>
RowLengths count_rows(const std::shared_ptr<CudaDevice>& gpu, const Source& source, LocalIndex rows,
                      LocalIndex columns) {
  const auto size = static_cast<std::size_t>(rows);
  RowLengths lengths{Buffer<LocalIndex>(gpu, size), Buffer<LocalIndex>(gpu, size)};
  if (rows == 0) return lengths;
  LocalIndex* const counts = lengths.counts.data();
  LocalIndex* const needs = lengths.needs.data();
  Buffer<LocalIndex> entries(gpu, size);
  bound_rows<L><<<blocks_for(std::int64_t{rows} * L), block_threads, 0, gpu->stream(Queue::compute)>>>(
      source, rows, entries.data());
  check_launch("bounds of rows");
  hope_for(gpu, entries.data(), rows, columns, needs);
  const RowBounds hoped = survey(gpu, needs, rows);
  sum_all_rows<L, false>(gpu, source, rows, needs, hoped, {counts});
  if (hoped.largest >= RowClasses::least_hope) {
    keep_failed(gpu, counts, rows, entries.data(), columns, needs);
    const RowBounds failed = survey(gpu, needs, rows);
    if (failed.largest > 0) sum_all_rows<L, false>(gpu, source, rows, needs, failed, {counts});
  }
  need_for_sums(gpu, counts, rows, entries.data(), needs);
  return lengths;
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
    const RowLengths lengths = count_rows<L>(gpu, source, rows, columns);
    pattern->row_offsets = offsets_of(gpu, lengths.counts.data(), rows);
    gpu->copy_to_host(&pattern->nonzeros, pattern->row_offsets.data() + rows, sizeof(Offset), Queue::compute);
    const RowBounds exact = survey(gpu, lengths.needs.data(), rows);
    if (pattern->nonzeros > most_entries) return;
    pattern->column_indices = Buffer<LocalIndex>(gpu, static_cast<std::size_t>(pattern->nonzeros));
    values = Buffer<double>(gpu, static_cast<std::size_t>(pattern->nonzeros));
    const RowResults to{nullptr, pattern->row_offsets.data(), pattern->column_indices.data(), values.data()};
    sum_all_rows<L, true>(gpu, source, rows, lengths.needs.data(), exact, to);
  });
  if (pattern->nonzeros > most_entries) return std::nullopt;
  return CsrBuffers<double>{std::move(pattern), std::move(values)};
}

}  // namespace block_eigs::cuda
