#include <cstring>
#include <limits>

#include "spmm/cuda/algebra/lanes.cuh"
#include "spmm/cuda/algebra/operations.hpp"

namespace block_eigs::cuda {

namespace {

/// A diagonal entry is raised where a positive semi-definite matrix would have more than this many times as much.
constexpr double too_small = 2.0;

/// Largest numbers over the rows, as bits of non-negative doubles; the last one is a flag.
enum Largest { norm_inf, scaled, diagonal, least_sound, bound, varies, largest_count };

struct RowOfMatrix {
  double sum = 0.0;     ///< of magnitudes
  double beside = 0.0;  ///< the largest one beside the diagonal
  Offset diagonal = -1;
};

__device__ RowOfMatrix look_at(const CsrView<double>& a, LocalIndex i) {
  RowOfMatrix row;
  const Offset end = a.row_offsets[i + 1];
  for (Offset k = a.row_offsets[i]; k < end; ++k) {
    const double size = fabs(a.values[k]);
    row.sum += size;
    if (a.column_indices[k] == i) {
      row.diagonal = k;
    } else {
      row.beside = fmax(row.beside, size);
    }
  }
  return row;
}

__global__ void measure_rows(CsrView<double> a, double* diagonals, unsigned long long* largest) {
  const auto i = static_cast<LocalIndex>(blockIdx.x * blockDim.x + threadIdx.x);
  double found[4] = {};
  if (i < a.rows) {
    const RowOfMatrix row = look_at(a, i);
    const double value = row.diagonal >= 0 ? a.values[row.diagonal] : 0.0;
    const double d = fabs(value);
    diagonals[i] = value;
    found[norm_inf] = row.sum;
    found[scaled] = row.sum / (d != 0.0 ? d : 1.0);
    found[diagonal] = d;
    found[least_sound] = d != 0.0 ? row.beside * (row.beside / d) : std::numeric_limits<double>::infinity();
  }
  for (int kind = 0; kind < 4; ++kind) {
    const double most = largest_in_warp(found[kind]);
    if (threadIdx.x % 32 == 0) raise_to(largest + kind, most);
  }
}

__global__ void raise_rows(CsrView<double> a, const double* diagonals, double largest_diagonal, double* raised,
                           unsigned long long* largest) {
  const auto i = static_cast<LocalIndex>(blockIdx.x * blockDim.x + threadIdx.x);
  double found = 0.0;
  if (i < a.rows) {
    const RowOfMatrix row = look_at(a, i);
    double d = diagonals[i];
    double sound = d == 0.0 ? largest_diagonal : 0.0;
    if (row.beside > 0.0) sound = row.beside * fmin(1.0, row.beside / largest_diagonal);
    if (sound > too_small * fabs(d)) d = sound;
    if (d == 0.0) d = 1.0;
    raised[i] = d;
    found = row.sum / fabs(d);
  }
  const double most = largest_in_warp(found);
  if (threadIdx.x % 32 == 0) raise_to(largest + bound, most);
}

void look_whether_constant(const Gpu& gpu, const Buffer<double>& diagonal_entries, unsigned long long* largest) {
  for_each(*gpu, static_cast<std::int64_t>(diagonal_entries.size()),
           [d = diagonal_entries.data(), largest] __device__(std::int64_t i) {
             if (d[i] != d[0]) largest[varies] = 1;
           });
}

}  // namespace

MatrixNumbers numbers(const Gpu& gpu, const CsrView<double>& a) {
  MatrixNumbers result;
  result.diagonal = Buffer<double>(gpu, static_cast<std::size_t>(a.rows));
  if (a.rows == 0) return result;
  const cudaStream_t stream = gpu->stream(Queue::compute);
  Buffer<unsigned long long> largest(gpu, largest_count);
  std::array<unsigned long long, largest_count> bits{};
  double first = 0.0;
  const auto number = [&](Largest kind) {
    double value = 0.0;
    std::memcpy(&value, &bits[kind], sizeof(value));
    return value;
  };
  const auto receive = [&](const Buffer<double>& diagonal_entries) {
    look_whether_constant(gpu, diagonal_entries, largest.data());
    gpu->copy_to_host(&first, diagonal_entries.data(), sizeof(double), Queue::compute);
    largest.download(bits.data());
  };
  check(cudaMemsetAsync(largest.data(), 0, sizeof(bits), stream), "clear numbers");
  measure_rows<<<blocks_for(a.rows), block_threads, 0, stream>>>(a, result.diagonal.data(), largest.data());
  check_launch("numbers of a matrix");
  receive(result.diagonal);
  result.norm_inf = number(norm_inf);
  result.scaled_gershgorin = result.jacobi_bound = number(scaled);
  result.largest_diagonal = number(diagonal);
  if (number(least_sound) > too_small * result.largest_diagonal) {
    result.raised = Buffer<double>(gpu, static_cast<std::size_t>(a.rows));
    check(cudaMemsetAsync(largest.data(), 0, sizeof(bits), stream), "clear numbers");
    raise_rows<<<blocks_for(a.rows), block_threads, 0, stream>>>(
        a, result.diagonal.data(), result.largest_diagonal, result.raised.data(), largest.data());
    check_launch("raise a diagonal");
    receive(result.raised);
    result.jacobi_bound = number(bound);
  }
  result.constant = bits[varies] == 0 ? first : 0.0;
  return result;
}

Buffer<double> inverse_of(const Gpu& gpu, const Buffer<double>& diagonal_entries, double smallest,
                          double greatest) {
  Buffer<double> result(gpu, diagonal_entries.size());
  for_each(*gpu, static_cast<std::int64_t>(result.size()),
           [d = diagonal_entries.data(), to = result.data(), smallest, greatest] __device__(std::int64_t i) {
             to[i] = d[i] != 0.0 ? fmin(fmax(1.0 / fabs(d[i]), smallest), greatest) : 1.0;
           });
  return result;
}

void settle_empty_rows(const Gpu& gpu, const CsrView<double>& a, double* values, double noise,
                       double replacement) {
  for_each(*gpu, a.rows, [a, values, noise, replacement] __device__(std::int64_t i) {
    const RowOfMatrix row = look_at(a, static_cast<LocalIndex>(i));
    if (row.diagonal < 0 || fabs(values[row.diagonal]) > noise) return;
    values[row.diagonal] = row.sum == 0.0 ? replacement : 0.0;
  });
}

}  // namespace block_eigs::cuda
