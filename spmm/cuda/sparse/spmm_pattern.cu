#include "spmm/cuda/sparse/spmm_pattern.hpp"

#include <algorithm>
#include <array>

#include "spmm/cuda/algebra/lanes.cuh"
#include "spmm/cuda/algebra/scan.hpp"
#include "spmm/cuda/runtime/cuda_check.hpp"
#include "spmm/cuda/sparse/same_columns.cuh"
#include "spmm/cuda/sparse/spmm_bundles.hpp"

namespace block_eigs::cuda {

namespace {

constexpr int threads = 256;

/// Sums over all rows.
enum Finding { empty_rows, like_before, columns_apart, finding_count };

using Word = unsigned long long;

__device__ Word sum_in_warp(Word value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(~0u, value, distance);
  return value;
}

/// Columns from the middle nonzero of a row, which has some, to that of the row before; 0 where that is empty.
__device__ Word apart_from_before(const Offset* offsets, const LocalIndex* columns, LocalIndex row) {
  const Offset before = offsets[row - 1], begin = offsets[row], end = offsets[row + 1];
  if (before == begin) return 0;
  return static_cast<Word>(abs(columns[begin + (end - begin) / 2] - columns[before + (begin - before) / 2]));
}

__global__ void look_at_rows(const Offset* offsets, const LocalIndex* columns, LocalIndex rows, Word* findings) {
  const auto row = static_cast<LocalIndex>(blockIdx.x * blockDim.x + threadIdx.x);
  Word length = 0;
  Word like = 0;
  Word apart = 0;
  if (row < rows) {
    length = static_cast<Word>(offsets[row + 1] - offsets[row]);
    if (row > 0 && same_columns(offsets, columns, row, row - 1)) like = length;
    if (row > 0 && length > 0) apart = apart_from_before(offsets, columns, row);
  }
  const Word empty = sum_in_warp(row < rows && length == 0 ? 1 : 0);
  const Word nonzeros_alike = sum_in_warp(like);
  const Word all_apart = sum_in_warp(apart);
  if (threadIdx.x % 32 != 0) return;
  if (empty > 0) atomicAdd(findings + empty_rows, empty);
  if (nonzeros_alike > 0) atomicAdd(findings + like_before, nonzeros_alike);
  if (all_apart > 0) atomicAdd(findings + columns_apart, all_apart);
}

/// As look_at_rows, a block a row.
__global__ void look_at_long_rows(const Offset* offsets, const LocalIndex* columns, LocalIndex rows,
                                  Word* findings) {
  for (auto row = static_cast<LocalIndex>(blockIdx.x); row < rows; row += static_cast<LocalIndex>(gridDim.x)) {
    const auto length = static_cast<Word>(offsets[row + 1] - offsets[row]);
    const bool alike = row > 0 && same_columns_by_block(offsets, columns, row);
    if (threadIdx.x != 0) continue;
    if (length == 0) atomicAdd(findings + empty_rows, Word{1});
    if (alike && length > 0) atomicAdd(findings + like_before, length);
    if (row > 0 && length > 0) atomicAdd(findings + columns_apart, apart_from_before(offsets, columns, row));
  }
}

__global__ void walk_path(const Offset* offsets, LocalIndex bundles, Offset words, std::uint32_t* ends,
                          LocalIndex* first_bundles, std::uint16_t* back) {
  const Offset word = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (word == words) ends[word] = 0;
  if (word >= words) return;
  const Offset begin = 32 * word;
  LocalIndex low = 0;  // the last bundle that begins at or before `begin`
  LocalIndex high = bundles;
  while (high - low > 1) {
    const LocalIndex middle = low + (high - low) / 2;
    if (offsets[middle] <= begin) {
      low = middle;
    } else {
      high = middle;
    }
  }
  first_bundles[word] = low;
  const bool whole = offsets[low + 1] - offsets[low] <= longest_whole_bundle;
  back[word] = static_cast<std::uint16_t>(whole ? begin - offsets[low] : 0);
  std::uint32_t bits = 0;
  for (LocalIndex bundle = low; bundle < bundles && offsets[bundle + 1] <= begin + 32; ++bundle)
    bits |= 1u << (offsets[bundle + 1] - 1 - begin);
  ends[word] = bits;
}

using Findings = std::array<Word, finding_count>;

/// Waits.
Findings findings_of(const std::shared_ptr<CudaDevice>& device, cudaStream_t stream, const Offset* offsets,
                     const LocalIndex* columns, LocalIndex rows, Offset nonzeros) {
  Buffer<Word> findings(device, finding_count);
  Findings found{};
  check(cudaMemsetAsync(findings.data(), 0, sizeof(found), stream), "analysis of a matrix");
  if (nonzeros / rows >= mean_of_long_rows) {
    look_at_long_rows<<<static_cast<unsigned>(std::min(rows, most_blocks_of_long_rows)), threads, 0, stream>>>(
        offsets, columns, rows, findings.data());
  } else {
    const auto blocks = static_cast<unsigned>((static_cast<std::int64_t>(rows) + threads - 1) / threads);
    look_at_rows<<<blocks, threads, 0, stream>>>(offsets, columns, rows, findings.data());
  }
  check_launch("analysis of a matrix");
  findings.download(found.data());
  return found;
}

/// Lists the rows with and those without nonzeros, where there are both.
void split_off_empty_rows(const std::shared_ptr<CudaDevice>& device, const Offset* offsets, LocalIndex rows,
                          const LocalIndex* row_map, SparsePattern& pattern) {
  Buffer<LocalIndex> filled(device, static_cast<std::size_t>(rows));
  Buffer<LocalIndex> numbers(device, static_cast<std::size_t>(rows));
  for_each(*device, rows, [offsets, filled = filled.data()] __device__(std::int64_t i) {
    filled[i] = offsets[i] < offsets[i + 1] ? 1 : 0;
  });
  number_flags(device, filled.data(), rows, numbers.data());
  pattern.offsets = Buffer<Offset>(device, static_cast<std::size_t>(pattern.statistics.rows) + 1);
  pattern.targets = Buffer<LocalIndex>(device, static_cast<std::size_t>(pattern.statistics.rows));
  pattern.empty_targets = Buffer<LocalIndex>(device, static_cast<std::size_t>(pattern.statistics.empty_rows));
  for_each(
      *device, rows,
      [offsets, row_map, filled = filled.data(), numbers = numbers.data(), ends = pattern.offsets.data() + 1,
       targets = pattern.targets.data(), empty_targets = pattern.empty_targets.data()] __device__(std::int64_t i) {
        const LocalIndex target = row_map == nullptr ? static_cast<LocalIndex>(i) : row_map[i];
        const LocalIndex before = numbers[i];
        if (i == 0) ends[-1] = 0;
        if (filled[i] == 0) {
          empty_targets[i - before] = target;
        } else {
          targets[before] = target;
          ends[before] = offsets[i + 1];
        }
      });
}

}  // namespace

SparsePattern find_pattern(const std::shared_ptr<CudaDevice>& device, cudaStream_t stream, const Offset* offsets,
                           const LocalIndex* columns, LocalIndex rows, Offset nonzeros,
                           const LocalIndex* row_map) {
  SparsePattern pattern;
  RowStatistics& statistics = pattern.statistics;
  if (rows == 0) return pattern;
  Findings found = findings_of(device, stream, offsets, columns, rows, nonzeros);
  statistics.empty_rows = static_cast<LocalIndex>(found[empty_rows]);
  statistics.rows = rows - statistics.empty_rows;
  if (statistics.empty_rows > 0) {
    split_off_empty_rows(device, offsets, rows, row_map, pattern);
    if (statistics.rows == 0) return pattern;
    offsets = pattern.offsets.data();
    found = findings_of(device, stream, offsets, columns, statistics.rows, nonzeros);
  }
  pattern.most_columns = most_in_runs(device, offsets, statistics.rows);
  statistics.nonzeros = statistics.columns_total = pattern.most_columns.back();
  statistics.longest = pattern.most_columns.front();
  statistics.mean = static_cast<double>(statistics.nonzeros) / statistics.rows;
  statistics.apart = static_cast<double>(found[columns_apart]) / statistics.rows;
  const auto alike = static_cast<double>(found[like_before]);
  pattern.worth_bundling = statistics.nonzeros >= least_nonzeros_of_bundles &&
                           alike > (1.0 - 1.0 / least_gain_of_bundles) * static_cast<double>(statistics.nonzeros);
  return pattern;
}

MergePathArrays find_merge_path(const std::shared_ptr<Device>& device, cudaStream_t stream,
                                const Offset* column_offsets, LocalIndex bundles, Offset columns) {
  const Offset words = (columns + 31) / 32;
  MergePathArrays path{Buffer<std::uint32_t>(device, static_cast<std::size_t>(words) + 1),
                       Buffer<LocalIndex>(device, static_cast<std::size_t>(words)),
                       Buffer<std::uint16_t>(device, static_cast<std::size_t>(words))};
  if (words == 0) return path;
  walk_path<<<static_cast<unsigned>(words / threads + 1), threads, 0, stream>>>(
      column_offsets, bundles, words, path.ends.data(), path.bundles.data(), path.back.data());
  check_launch("merge path");
  return path;
}

}  // namespace block_eigs::cuda
