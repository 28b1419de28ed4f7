#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "spmm/cuda/algebra/lanes.cuh"
#include "spmm/cuda/algebra/operations.hpp"

namespace block_eigs::cuda {

namespace {

constexpr int tile = 32;

/// Norms of the matrix and of its inverse, as bits of non-negative doubles, and whether a pivot was not positive.
enum Finding { norm_before, norm_after, not_definite, finding_count };

using Square = double[tile][tile + 1];

/// Gauss-Jordan by tile x tile threads.
__device__ void invert_tile(Square& d, unsigned long long* findings) {
  const int i = static_cast<int>(threadIdx.y);
  const int j = static_cast<int>(threadIdx.x);
  for (int k = 0; k < tile; ++k) {
    __syncthreads();
    const double pivot = d[k][k];
    if (i == 0 && j == 0 && !(pivot > 0.0)) findings[not_definite] = 1;
    const double factor = d[i][k];
    const double above = d[k][j];
    double own = d[i][j];
    __syncthreads();
    if (i == k && j == k) {
      own = 1.0 / pivot;
    } else if (i == k) {
      own = above / pivot;
    } else if (j == k) {
      own = -factor / pivot;
    } else {
      own -= factor * (above / pivot);
    }
    d[i][j] = own;
  }
  __syncthreads();
}

/// Of the tile of rows and columns from `at` on: its inverse times what is right and left of it, and what is above
/// and below it as it is; a block for each tile of columns.
__global__ void make_panels(const double* dense, LocalIndex n, LocalIndex at, double* across, double* down,
                            unsigned long long* findings) {
  __shared__ Square pivot;
  __shared__ Square right;
  const int i = static_cast<int>(threadIdx.y);
  const int j = static_cast<int>(threadIdx.x);
  const LocalIndex row = at + i;
  const LocalIndex column = static_cast<LocalIndex>(blockIdx.x) * tile + j;
  const auto entry = [&](LocalIndex r, LocalIndex c) {
    if (r < n && c < n) return dense[static_cast<std::int64_t>(r) * n + c];
    return r == c ? 1.0 : 0.0;
  };
  pivot[i][j] = entry(row, at + j);
  right[i][j] = entry(row, column);
  invert_tile(pivot, findings);
  double sum = 0.0;
  if (blockIdx.x * tile == static_cast<unsigned>(at)) {
    sum = pivot[i][j];
  } else {
    for (int k = 0; k < tile; ++k) sum += pivot[i][k] * right[k][j];
  }
  if (column < n) across[static_cast<std::int64_t>(i) * n + column] = sum;
  const LocalIndex below = static_cast<LocalIndex>(blockIdx.x) * tile + i;
  if (below < n) down[static_cast<std::int64_t>(below) * tile + j] = entry(below, at + j);
}

/// The step of Gauss-Jordan that these panels stand for.
__global__ void eliminate(double* dense, LocalIndex n, LocalIndex at, const double* across, const double* down) {
  __shared__ Square left;
  __shared__ Square top;
  const int i = static_cast<int>(threadIdx.y);
  const int j = static_cast<int>(threadIdx.x);
  const LocalIndex row = static_cast<LocalIndex>(blockIdx.y) * tile + i;
  const LocalIndex column = static_cast<LocalIndex>(blockIdx.x) * tile + j;
  left[i][j] = row < n && at + j < n ? down[static_cast<std::int64_t>(row) * tile + j] : 0.0;
  top[i][j] = column < n && at + i < n ? across[static_cast<std::int64_t>(i) * n + column] : 0.0;
  __syncthreads();
  if (row >= n || column >= n) return;
  double& own = dense[static_cast<std::int64_t>(row) * n + column];
  if (row >= at && row < at + tile) {
    own = top[row - at][j];
    return;
  }
  double sum = 0.0;
  for (int k = 0; k < tile; ++k) sum += left[i][k] * top[k][j];
  own = (column >= at && column < at + tile ? 0.0 : own) - sum;
}

/// A block a row.
__global__ void measure_row(const double* dense, LocalIndex n, unsigned long long* norm) {
  const double* row = dense + static_cast<std::int64_t>(blockIdx.x) * n;
  double sum = 0.0;
  for (LocalIndex j = static_cast<LocalIndex>(threadIdx.x); j < n; j += 32) sum += fabs(row[j]);
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
  if (threadIdx.x == 0) raise_to(norm, sum);
}

/// With all entries stored, and the values of A.
CsrBuffers<double> as_full_matrix(const Gpu& gpu, const CsrView<double>& a) {
  const LocalIndex n = a.rows;
  auto pattern = std::make_shared<CsrPattern>();
  pattern->rows = pattern->columns = n;
  pattern->nonzeros = Offset{n} * n;
  pattern->row_offsets = Buffer<Offset>(gpu, static_cast<std::size_t>(n) + 1);
  pattern->column_indices = Buffer<LocalIndex>(gpu, static_cast<std::size_t>(pattern->nonzeros));
  Buffer<double> values(gpu, static_cast<std::size_t>(pattern->nonzeros));
  for_each(*gpu, n + std::int64_t{1},
           [offsets = pattern->row_offsets.data(), n] __device__(std::int64_t i) { offsets[i] = i * n; });
  for_each(*gpu, pattern->nonzeros,
           [columns = pattern->column_indices.data(), values = values.data(), n] __device__(std::int64_t k) {
             columns[k] = static_cast<LocalIndex>(k % n);
             values[k] = 0.0;
           });
  for_each(*gpu, n, [a, values = values.data(), n] __device__(std::int64_t i) {
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
      values[i * n + a.column_indices[k]] = a.values[k];
  });
  return {std::move(pattern), std::move(values)};
}

}  // namespace

std::optional<CsrBuffers<double>> inverse(const Gpu& gpu, const CsrView<double>& a, double noise,
                                          double relative_noise) {
  const cudaStream_t stream = gpu->stream(Queue::compute);
  const LocalIndex n = a.rows;
  CsrBuffers<double> result = as_full_matrix(gpu, a);
  if (n == 0) return result;
  double* dense = result.values.data();
  Buffer<double> across(gpu, static_cast<std::size_t>(n) * tile);
  Buffer<double> down(gpu, static_cast<std::size_t>(n) * tile);
  Buffer<unsigned long long> findings(gpu, finding_count);
  std::array<unsigned long long, finding_count> found{};
  check(cudaMemsetAsync(findings.data(), 0, sizeof(found), stream), "dense inverse");
  measure_row<<<static_cast<unsigned>(n), 32, 0, stream>>>(dense, n, findings.data() + norm_before);
  const unsigned tiles = blocks_for(n, tile);
  for (LocalIndex at = 0; at < n; at += tile) {
    make_panels<<<tiles, dim3(tile, tile), 0, stream>>>(dense, n, at, across.data(), down.data(), findings.data());
    eliminate<<<dim3(tiles, tiles), dim3(tile, tile), 0, stream>>>(dense, n, at, across.data(), down.data());
  }
  measure_row<<<static_cast<unsigned>(n), 32, 0, stream>>>(dense, n, findings.data() + norm_after);
  for_each(*gpu, result.pattern->nonzeros, [dense, n] __device__(std::int64_t k) {
    const std::int64_t i = k / n;
    const std::int64_t j = k % n;
    if (j >= i) return;
    const double mean = 0.5 * (dense[i * n + j] + dense[j * n + i]);
    dense[i * n + j] = mean;
    dense[j * n + i] = mean;
  });
  check_launch("dense inverse");
  findings.download(found.data());
  double before = 0.0;
  double after = 0.0;
  std::memcpy(&before, &found[norm_before], sizeof(double));
  std::memcpy(&after, &found[norm_after], sizeof(double));
  if (found[not_definite] != 0 || !(1.0 / after > std::max(noise, relative_noise * before))) return std::nullopt;
  return result;
}

}  // namespace block_eigs::cuda
