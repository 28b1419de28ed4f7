#include "spmm/cuda/algebra/lanes.cuh"
#include "spmm/cuda/algebra/scan.hpp"
#include "spmm/cuda/runtime/cuda_check.hpp"
#include "spmm/cuda/sparse/same_columns.cuh"
#include "spmm/cuda/sparse/spmm_bundles.hpp"

namespace block_eigs::cuda {

namespace {

constexpr int threads = 256;

/// Runs up to this length begin anywhere: tiles need not be powers of two. Longer ones begin at multiples of
/// theirs.
constexpr std::int64_t longest_free_run = 2048;

/// blockIdx.y: the runs of 2^blockIdx.y rows.
__global__ void look_at_runs(const Offset* offsets, LocalIndex rows, unsigned long long* most_of_run) {
  const std::int64_t run = std::int64_t{1} << blockIdx.y;
  const std::int64_t step = run <= longest_free_run ? 1 : run;
  unsigned long long most = 0;
  for (std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * step; i < rows;
       i += static_cast<std::int64_t>(gridDim.x) * blockDim.x * step) {
    const Offset end = offsets[min(i + run, static_cast<std::int64_t>(rows))];
    most = max(most, static_cast<unsigned long long>(end - offsets[i]));
  }
  for (int distance = 16; distance > 0; distance /= 2) most = max(most, __shfl_xor_sync(~0u, most, distance));
  if (threadIdx.x % 32 == 0 && most > 0) atomicMax(most_of_run + blockIdx.y, most);
}

/// A warp a bundle.
__global__ void gather_columns(const Offset* row_offsets, const LocalIndex* columns, const LocalIndex* first_rows,
                               LocalIndex bundles, const Offset* column_offsets, LocalIndex* gathered) {
  const std::int64_t bundle = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  if (bundle >= bundles) return;
  const Offset from = row_offsets[first_rows[bundle]];
  const Offset to = column_offsets[bundle];
  const Offset length = column_offsets[bundle + 1] - to;
  for (Offset k = threadIdx.x % 32; k < length; k += 32) gathered[to + k] = columns[from + k];
}

/// What `beginnings` asks of each row, a block a row.
__global__ void find_runs_of_long_rows(const Offset* row_offsets, const LocalIndex* columns, LocalIndex rows,
                                       LocalIndex* runs) {
  for (auto row = static_cast<LocalIndex>(blockIdx.x); row < rows; row += static_cast<LocalIndex>(gridDim.x)) {
    const bool alike = row > 0 && same_columns_by_block(row_offsets, columns, row);
    if (threadIdx.x == 0) runs[row] = alike ? 0 : row;
  }
}

/// Of each row the first one of the run of rows with its columns.
Buffer<LocalIndex> first_alike(const std::shared_ptr<CudaDevice>& gpu, const Offset* row_offsets,
                               const LocalIndex* columns, LocalIndex rows, Offset nonzeros) {
  Buffer<LocalIndex> runs(gpu, static_cast<std::size_t>(rows));
  if (nonzeros / rows >= mean_of_long_rows) {
    find_runs_of_long_rows<<<static_cast<unsigned>(std::min(rows, most_blocks_of_long_rows)), threads, 0,
                             gpu->stream(Queue::compute)>>>(row_offsets, columns, rows, runs.data());
    check_launch("bundles of rows");
  } else {
    for_each(*gpu, rows, [=, runs = runs.data()] __device__(std::int64_t i) {
      const auto row = static_cast<LocalIndex>(i);
      runs[i] = row > 0 && same_columns(row_offsets, columns, row, row - 1) ? 0 : row;
    });
  }
  last_begun(gpu, runs.data(), rows, runs.data());
  return runs;
}

LocalIndex one(const std::shared_ptr<CudaDevice>& gpu, const LocalIndex* from) {
  LocalIndex value = 0;
  gpu->copy_to_host(&value, from, sizeof(value), Queue::compute);
  gpu->synchronize(Queue::compute);
  return value;
}

/// Numbers the bundles of up to `limit` rows: 1 in `flags` where one begins, its number in `numbers`; how many.
LocalIndex number_bundles(const std::shared_ptr<CudaDevice>& gpu, const Buffer<LocalIndex>& runs, int limit,
                          Buffer<LocalIndex>& flags, Buffer<LocalIndex>& numbers) {
  const auto rows = static_cast<LocalIndex>(runs.size());
  for_each(*gpu, rows, [limit, flags = flags.data(), runs = runs.data()] __device__(std::int64_t i) {
    flags[i] = (static_cast<LocalIndex>(i) - runs[i]) % limit == 0 ? 1 : 0;
  });
  number_flags(gpu, flags.data(), rows, numbers.data());
  return one(gpu, numbers.data() + rows - 1) + one(gpu, flags.data() + rows - 1);
}

}  // namespace

std::vector<Offset> most_in_runs(const std::shared_ptr<CudaDevice>& gpu, const Offset* offsets, LocalIndex rows) {
  if (rows == 0) return {};
  unsigned runs = 1;
  while ((std::int64_t{1} << (runs - 1)) < rows) ++runs;
  Buffer<unsigned long long> most(gpu, runs);
  const cudaStream_t stream = gpu->stream(Queue::compute);
  check(cudaMemsetAsync(most.data(), 0, runs * sizeof(unsigned long long), stream), "analysis of a matrix");
  const auto blocks = static_cast<unsigned>((static_cast<std::int64_t>(rows) + threads - 1) / threads);
  look_at_runs<<<dim3(std::min(blocks, 256u), runs), threads, 0, stream>>>(offsets, rows, most.data());
  check_launch("analysis of a matrix");
  std::vector<unsigned long long> found(runs);
  most.download(found.data());
  return {found.begin(), found.end()};
}

std::optional<Bundles> find_bundles(const std::shared_ptr<CudaDevice>& gpu, const Offset* row_offsets,
                                    const LocalIndex* columns, LocalIndex rows, Offset nonzeros,
                                    bool thick_ones_too) {
  const Buffer<LocalIndex> runs = first_alike(gpu, row_offsets, columns, rows, nonzeros);
  Buffer<LocalIndex> flags(gpu, static_cast<std::size_t>(rows));
  Buffer<LocalIndex> numbers(gpu, static_cast<std::size_t>(rows));
  Bundles bundles;
  if (thick_ones_too && nonzeros / rows >= least_mean_of_thick_bundles) {
    bundles.count = number_bundles(gpu, runs, thick_bundle_rows_limit, flags, numbers);
    bundles.thick = rows / bundles.count >= least_rows_of_thick_bundles;
  }
  if (!bundles.thick) bundles.count = number_bundles(gpu, runs, bundle_rows_limit, flags, numbers);
  const auto count = static_cast<std::size_t>(bundles.count);
  bundles.first_rows = Buffer<LocalIndex>(gpu, count + 1);
  bundles.value_offsets = Buffer<Offset>(gpu, count + 1);
  Buffer<LocalIndex> lengths(gpu, count);
  for_each(*gpu, rows + std::int64_t{1},
           [=, count = bundles.count, flags = flags.data(), numbers = numbers.data(), lengths = lengths.data(),
            first_rows = bundles.first_rows.data(),
            value_offsets = bundles.value_offsets.data()] __device__(std::int64_t i) {
             if (i < rows && flags[i] == 0) return;
             const LocalIndex bundle = i < rows ? numbers[i] : count;
             first_rows[bundle] = static_cast<LocalIndex>(i);
             value_offsets[bundle] = row_offsets[i];
             if (i < rows) lengths[bundle] = static_cast<LocalIndex>(row_offsets[i + 1] - row_offsets[i]);
           });
  bundles.column_offsets = offsets_of(gpu, lengths.data(), bundles.count);
  bundles.most_columns = most_in_runs(gpu, bundles.column_offsets.data(), bundles.count);
  bundles.columns_total = bundles.most_columns.back();
  if (static_cast<double>(nonzeros) < least_gain_of_bundles * static_cast<double>(bundles.columns_total))
    return std::nullopt;
  bundles.most_values = most_in_runs(gpu, bundles.value_offsets.data(), bundles.count);
  bundles.columns = Buffer<LocalIndex>(gpu, static_cast<std::size_t>(bundles.columns_total));
  const auto blocks =
      static_cast<unsigned>((static_cast<std::int64_t>(bundles.count) * 32 + threads - 1) / threads);
  gather_columns<<<blocks, threads, 0, gpu->stream(Queue::compute)>>>(
      row_offsets, columns, bundles.first_rows.data(), bundles.count, bundles.column_offsets.data(),
      bundles.columns.data());
  check_launch("bundles of rows");
  return bundles;
}

}  // namespace block_eigs::cuda
