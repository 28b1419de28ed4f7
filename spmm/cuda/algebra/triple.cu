#include "spmm/cuda/algebra/lanes.cuh"
#include "spmm/cuda/algebra/operations.hpp"

namespace block_eigs::cuda {

namespace {

/// Whether bit i was not set before.
__device__ bool sets(std::uint32_t* bits, LocalIndex i) {
  const std::uint32_t bit = 1u << (i % 32);
  return (atomicOr(bits + i / 32, bit) & bit) == 0;
}

/// A block for each row of R, with a bit for every row of P that it reaches and for every column.
__global__ void count_triple(CsrView<double> r, CsrView<double> a, CsrView<double> p, LocalIndex stride,
                             std::uint32_t* bits, std::int64_t words_of_rows, std::int64_t words,
                             unsigned long long* entries) {
  std::uint32_t* const rows = bits + blockIdx.x * words;
  std::uint32_t* const columns = rows + words_of_rows;
  const Offset row = static_cast<Offset>(blockIdx.x) * stride;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warps = static_cast<int>(blockDim.x / 32);
  unsigned long long found = 0;
  for (Offset i = r.row_offsets[row] + threadIdx.x / 32; i < r.row_offsets[row + 1]; i += warps) {
    const LocalIndex middle = r.column_indices[i];
    for (Offset j = a.row_offsets[middle] + lane; j < a.row_offsets[middle + 1]; j += 32) {
      const LocalIndex from = a.column_indices[j];
      if (!sets(rows, from)) continue;
      for (Offset k = p.row_offsets[from]; k < p.row_offsets[from + 1]; ++k)
        found += sets(columns, p.column_indices[k]);
    }
  }
  for (int distance = 16; distance > 0; distance /= 2) found += __shfl_xor_sync(~0u, found, distance);
  if (lane == 0) atomicAdd(entries, found);
}

}  // namespace

Offset entries_of_triple(const Gpu& gpu, const CsrView<double>& r, const CsrView<double>& a,
                         const CsrView<double>& p, LocalIndex stride) {
  const std::int64_t samples = (std::int64_t{r.rows} + stride - 1) / stride;
  const std::int64_t words_of_rows = (std::int64_t{p.rows} + 31) / 32;
  const std::int64_t words = words_of_rows + (std::int64_t{p.columns} + 31) / 32;
  const cudaStream_t stream = gpu->stream(Queue::compute);
  Buffer<std::uint32_t> bits(gpu, static_cast<std::size_t>(samples * words));
  Buffer<unsigned long long> entries(gpu, 1);
  check(cudaMemsetAsync(entries.data(), 0, sizeof(unsigned long long), stream), "sample of a product");
  if (samples > 0) {
    check(cudaMemsetAsync(bits.data(), 0, bits.size() * sizeof(std::uint32_t), stream), "sample of a product");
    count_triple<<<static_cast<unsigned>(samples), 512, 0, stream>>>(r, a, p, stride, bits.data(), words_of_rows,
                                                                     words, entries.data());
    check_launch("sample of a product");
  }
  unsigned long long found = 0;
  entries.download(&found);
  return static_cast<Offset>(found);
}

}  // namespace block_eigs::cuda
