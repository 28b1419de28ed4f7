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

}  // namespace

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
