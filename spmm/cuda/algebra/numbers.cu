#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "spmm/cuda/algebra/lanes.cuh"
#include "spmm/cuda/algebra/operations.hpp"
#include "spmm/device/found_numbers.hpp"
#include "spmm/device/raised_entry.hpp"

namespace block_eigs::cuda {

namespace {

/// What is found over all rows: largest numbers, as bits of non-negative doubles; whether damped entries, and
/// those that Jacobi divides by, differ; the sum of the exponents of row sums, and of how many rows.
enum Finding {
  norm_inf,
  scaled,
  diagonal,
  least_sound,
  damped_diagonal,
  raised_bound,
  damped_bound,
  varies,
  jacobi_varies,
  exponents,
  full_rows,
  finding_count
};
constexpr int largest_of_rows = damped_diagonal + 1;

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

__global__ void measure_rows(CsrView<double> a, double* diagonals, double* sums, unsigned long long* findings) {
  const auto i = static_cast<LocalIndex>(blockIdx.x * blockDim.x + threadIdx.x);
  double found[largest_of_rows] = {};
  int exponent = 0;
  bool full = false;
  if (i < a.rows) {
    const RowOfMatrix row = look_at(a, i);
    const double value = row.diagonal >= 0 ? a.values[row.diagonal] : 0.0;
    const double d = fabs(value);
    diagonals[i] = value;
    sums[i] = row.sum;
    found[norm_inf] = row.sum;
    found[scaled] = row.sum / (d != 0.0 ? d : 1.0);
    found[diagonal] = d;
    found[least_sound] = d != 0.0 ? row.beside * (row.beside / d) : std::numeric_limits<double>::infinity();
    if (row.sum > 0.0) found[damped_diagonal] = row.sum / fmax(d, 0.5 * row.sum);
    full = row.sum > 0.0 && isfinite(row.sum);
    if (full) exponent = ilogb(row.sum);
  }
  for (int kind = 0; kind < largest_of_rows; ++kind) {
    const double most = largest_in_warp(found[kind]);
    if (threadIdx.x % 32 == 0) raise_to(findings + kind, most);
  }
  const int count = __popc(__ballot_sync(~0u, full));
  const int sum = __reduce_add_sync(~0u, exponent);
  if (threadIdx.x % 32 != 0 || count == 0) return;
  atomicAdd(findings + full_rows, static_cast<unsigned long long>(count));
  atomicAdd(findings + exponents, static_cast<unsigned long long>(static_cast<long long>(sum)));
}

__global__ void raise_rows(CsrView<double> a, const double* diagonals, double largest_diagonal, double* raised,
                           unsigned long long* findings) {
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
  if (threadIdx.x % 32 == 0) raise_to(findings + raised_bound, most);
}

__device__ double damped(const double* diagonals, const double* sums, LocalIndex i) {
  return fmax(fabs(diagonals[i]), 0.5 * sums[i]);
}

__global__ void damp_rows(LocalIndex rows, const double* diagonals, const double* sums, double* to,
                          unsigned long long* findings) {
  const auto i = static_cast<LocalIndex>(blockIdx.x * blockDim.x + threadIdx.x);
  double found = 0.0;
  if (i < rows) {
    const double entry = damped(diagonals, sums, i);
    to[i] = entry;
    if (entry > 0.0) found = sums[i] / entry;
    if (entry != damped(diagonals, sums, 0)) findings[varies] = 1;
    if (diagonals[i] != diagonals[0]) findings[jacobi_varies] = 1;
  }
  const double most = largest_in_warp(found);
  if (threadIdx.x % 32 == 0) raise_to(findings + damped_bound, most);
}

/// What has been found so far.
class Findings {
 public:
  explicit Findings(const Gpu& gpu) : device_(gpu, finding_count) {
    check(cudaMemsetAsync(device_.data(), 0, sizeof(host_), gpu->stream(Queue::compute)), "clear numbers");
  }
  unsigned long long* on_device() { return device_.data(); }
  /// Waits.
  void receive() { device_.download(host_.data()); }
  long long integer(Finding kind) const { return static_cast<long long>(host_[kind]); }
  double number(Finding kind) const {
    double value = 0.0;
    std::memcpy(&value, &host_[kind], sizeof(value));
    return value;
  }

 private:
  Buffer<unsigned long long> device_;
  std::array<unsigned long long, finding_count> host_{};
};

}  // namespace

MatrixNumbers numbers(const Gpu& gpu, const CsrView<double>& a, Neighbourhood& ranks) {
  MatrixNumbers result;
  const auto rows = static_cast<std::size_t>(a.rows);
  const cudaStream_t stream = gpu->stream(Queue::compute);
  const unsigned blocks = blocks_for(a.rows);
  std::optional<Findings> findings;
  ranks.collectively([&] {
    for (Buffer<double>* each : {&result.diagonal, &result.row_sums, &result.damped})
      *each = Buffer<double>(gpu, rows);
    findings.emplace(gpu);
    if (rows > 0) {
      measure_rows<<<blocks, block_threads, 0, stream>>>(a, result.diagonal.data(), result.row_sums.data(),
                                                         findings->on_device());
      check_launch("numbers of a matrix");
    }
    findings->receive();
  });
  const LargestOfRows largest{findings->number(norm_inf), findings->number(scaled),
                              findings->number(damped_diagonal), findings->number(diagonal),
                              findings->number(least_sound)};
  const bool raises =
      take_findings(result, largest, {findings->integer(exponents), findings->integer(full_rows)}, ranks);
  ConstantEntries first;
  ranks.collectively([&] {
    if (raises) result.raised = Buffer<double>(gpu, rows);
    if (raises && rows > 0) {
      raise_rows<<<blocks, block_threads, 0, stream>>>(a, result.diagonal.data(), result.largest_diagonal,
                                                       result.raised.data(), findings->on_device());
      check_launch("raise a diagonal");
    }
    if (rows > 0) {
      damp_rows<<<blocks, block_threads, 0, stream>>>(a.rows, result.jacobi_diagonal().data(),
                                                      result.row_sums.data(), result.damped.data(),
                                                      findings->on_device());
      check_launch("damp a diagonal");
      gpu->copy_to_host(&first.damped, result.damped.data(), sizeof(double), Queue::compute);
      gpu->copy_to_host(&first.jacobi, result.jacobi_diagonal().data(), sizeof(double), Queue::compute);
    }
    findings->receive();
  });
  if (raises) {
    result.jacobi_bound = findings->number(raised_bound);
    ranks.raise_to_largest(std::span(&result.jacobi_bound, 1));
  }
  if (findings->integer(varies) != 0) first.damped = 0.0;
  if (findings->integer(jacobi_varies) != 0) first.jacobi = 0.0;
  take_damped(result, findings->number(damped_bound), rows == 0 ? std::nullopt : std::optional(first), ranks);
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
