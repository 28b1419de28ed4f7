#include "spmm/cuda/algebra/sum_rows.cuh"

namespace block_eigs::cuda {

namespace {

__global__ void survey_rows(const LocalIndex* needs, LocalIndex rows, LocalIndex* result) {
  __shared__ LocalIndex counts[RowClasses::count + 1];
  if (threadIdx.x <= RowClasses::count) counts[threadIdx.x] = 0;
  __syncthreads();
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < rows;
       i += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    const LocalIndex need = needs[i];
    if (need < 0) continue;
    const int own = RowClasses::of(need);
    const unsigned active = __activemask();
    const unsigned same = __match_any_sync(active, own);
    if (__ffs(static_cast<int>(same)) - 1 == static_cast<int>(threadIdx.x % 32))
      atomicAdd(counts + own, __popc(same));
    if (need > static_cast<volatile LocalIndex*>(counts)[RowClasses::count])
      atomicMax(counts + RowClasses::count, need);
  }
  __syncthreads();
  if (threadIdx.x < RowClasses::count && counts[threadIdx.x] > 0)
    atomicAdd(result + threadIdx.x, counts[threadIdx.x]);
  if (threadIdx.x == RowClasses::count) atomicMax(result + RowClasses::count, counts[RowClasses::count]);
}

}  // namespace

RowBounds survey(const std::shared_ptr<CudaDevice>& gpu, const LocalIndex* needs, LocalIndex rows) {
  const cudaStream_t stream = gpu->stream(Queue::compute);
  std::array<LocalIndex, RowClasses::count + 1> counts{};
  Buffer<LocalIndex> result(gpu, counts.size());
  check(cudaMemsetAsync(result.data(), 0, sizeof(counts), stream), "survey of rows");
  if (rows > 0) {
    const unsigned blocks = std::min(blocks_for(rows), static_cast<unsigned>(4 * gpu->multiprocessors()));
    survey_rows<<<blocks, block_threads, 0, stream>>>(needs, rows, result.data());
    check_launch("survey of rows");
  }
  result.download(counts.data());
  RowBounds bounds_of_rows;
  std::copy_n(counts.begin(), RowClasses::count, bounds_of_rows.rows.begin());
  bounds_of_rows.largest = counts.back();
  return bounds_of_rows;
}

Buffer<LocalIndex> list_by_class(const std::shared_ptr<CudaDevice>& gpu, const LocalIndex* needs, LocalIndex rows,
                                 const RowBounds& survey) {
  Buffer<LocalIndex> list(gpu, static_cast<std::size_t>(rows));
  std::array<LocalIndex, RowClasses::count> begins{};
  for (std::size_t c = 1; c < begins.size(); ++c) begins[c] = begins[c - 1] + survey.rows[c - 1];
  Buffer<LocalIndex> next(gpu, begins.size());
  next.upload(begins.data());
  // In no order: rows do not depend on each other.
  for_each(*gpu, rows, [needs, list = list.data(), next = next.data()] __device__(std::int64_t i) {
    if (needs[i] < 0) return;
    const int own = RowClasses::of(needs[i]);
    const unsigned active = __activemask();
    const unsigned same = __match_any_sync(active, own);
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int leader = __ffs(static_cast<int>(same)) - 1;
    LocalIndex at = 0;
    if (lane == leader) at = atomicAdd(next + own, __popc(same));
    at = __shfl_sync(same, at, leader);
    list[at + __popc(same & ((1u << lane) - 1))] = static_cast<LocalIndex>(i);
  });
  return list;
}

void hope_for(const std::shared_ptr<CudaDevice>& gpu, const LocalIndex* entries, LocalIndex rows,
              LocalIndex columns, LocalIndex* needs) {
  for_each(*gpu, rows, [entries, columns, needs] __device__(std::int64_t i) {
    needs[i] = RowClasses::hoped_for(entries[i], columns);
  });
}

void keep_failed(const std::shared_ptr<CudaDevice>& gpu, const LocalIndex* counts, LocalIndex rows,
                 const LocalIndex* entries, LocalIndex columns, LocalIndex* needs) {
  for_each(*gpu, rows, [counts, entries, columns, needs] __device__(std::int64_t i) {
    needs[i] = counts[i] < 0 ? min(entries[i], columns) : -1;
  });
}

void need_for_sums(const std::shared_ptr<CudaDevice>& gpu, const LocalIndex* counts, LocalIndex rows,
                   const LocalIndex* entries, LocalIndex* needs) {
  for_each(*gpu, rows, [counts, entries, needs] __device__(std::int64_t i) {
    needs[i] = RowClasses::need(counts[i], entries[i]);
  });
}

}  // namespace block_eigs::cuda
