#include "spmm/cuda/algebra/lanes.cuh"
#include "spmm/cuda/algebra/scan.hpp"
#include "spmm/cuda/runtime/cuda_check.hpp"
#include "spmm/cuda/sparse/spmm_bundles.hpp"
#include "spmm/cuda/sparse/spmm_strips.hpp"

namespace block_eigs::cuda {

namespace {

/// Calls take(column, source) for the united columns of the strip in ascending order; source[j] is the number of
/// row j's nonzero in that column, no_source where it has none. Sets *unordered where the columns of a row do not
/// ascend.
template <class Take>
__device__ void unite(const Offset* row_offsets, const LocalIndex* columns, LocalIndex rows, LocalIndex strip,
                      int* unordered, const Take& take) {
  constexpr int R = strip_height;
  constexpr LocalIndex none = 0x7fffffff;
  const LocalIndex first = strip * R;
  const Offset base = row_offsets[first];
  Offset at[R], end[R];
  LocalIndex head[R];
#pragma unroll
  for (int j = 0; j < R; ++j) {
    const LocalIndex row = min(first + j, rows - 1);
    at[j] = row_offsets[row];
    end[j] = first + j < rows ? row_offsets[row + 1] : at[j];
    head[j] = at[j] < end[j] ? columns[at[j]] : none;
  }
  while (true) {
    LocalIndex least = none;
#pragma unroll
    for (int j = 0; j < R; ++j) least = min(least, head[j]);
    if (least == none) return;
    std::uint16_t source[R];
#pragma unroll
    for (int j = 0; j < R; ++j) {
      source[j] = no_source;
      if (head[j] != least) continue;
      source[j] = static_cast<std::uint16_t>(at[j] - base);
      ++at[j];
      head[j] = at[j] < end[j] ? columns[at[j]] : none;
      if (head[j] <= least) {
        *unordered = 1;
        return;
      }
    }
    take(least, source);
  }
}

using StripSources = std::uint16_t[strip_height];

}  // namespace

std::optional<Strips> find_strips(const std::shared_ptr<CudaDevice>& gpu, const Offset* row_offsets,
                                  const LocalIndex* columns, LocalIndex rows, Offset nonzeros) {
  Strips strips;
  strips.count = (rows + strip_height - 1) / strip_height;
  Buffer<LocalIndex> lengths(gpu, static_cast<std::size_t>(strips.count));
  Buffer<int> unordered(gpu, 1);
  check(cudaMemsetAsync(unordered.data(), 0, sizeof(int), gpu->stream(Queue::compute)), "strips of rows");
  for_each(*gpu, strips.count,
           [=, lengths = lengths.data(), unordered = unordered.data()] __device__(std::int64_t i) {
             LocalIndex length = 0;
             unite(row_offsets, columns, rows, static_cast<LocalIndex>(i), unordered,
                   [&](LocalIndex, const StripSources&) { ++length; });
             lengths[i] = length;
           });
  strips.offsets = offsets_of(gpu, lengths.data(), strips.count);
  strips.most_columns = most_in_runs(gpu, strips.offsets.data(), strips.count);
  strips.columns_total = strips.most_columns.back();
  int found = 0;
  unordered.download(&found);
  if (found != 0) return std::nullopt;
  const double places = static_cast<double>(strips.columns_total) * strip_height;
  if (static_cast<double>(nonzeros) < least_fill_of_strips * places) return std::nullopt;
  strips.columns = Buffer<LocalIndex>(gpu, static_cast<std::size_t>(strips.columns_total));
  strips.sources = Buffer<std::uint16_t>(gpu, static_cast<std::size_t>(strips.columns_total) * strip_height);
  for_each(*gpu, strips.count,
           [=, offsets = strips.offsets.data(), united = strips.columns.data(), sources = strips.sources.data(),
            unordered = unordered.data()] __device__(std::int64_t i) {
             Offset at = offsets[i];
             unite(row_offsets, columns, rows, static_cast<LocalIndex>(i), unordered,
                   [&](LocalIndex column, const StripSources& source) {
                     united[at] = column;
#pragma unroll
                     for (int j = 0; j < strip_height; ++j) sources[at * strip_height + j] = source[j];
                     ++at;
                   });
           });
  return strips;
}

}  // namespace block_eigs::cuda
