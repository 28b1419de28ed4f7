#include "spmm/host/algebra/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "spmm/device/found_numbers.hpp"
#include "spmm/device/raised_entry.hpp"

namespace block_eigs::host {

namespace {

/// What a row says of its diagonal entry.
struct RowOfMatrix {
  double sum = 0.0;     ///< of magnitudes
  double beside = 0.0;  ///< the largest one beside the diagonal
  Offset diagonal = -1;
};

RowOfMatrix look_at(const CsrView<double>& a, LocalIndex i) {
  RowOfMatrix row;
  for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
    const double size = std::abs(a.values[k]);
    row.sum += size;
    if (a.column_indices[k] == i) {
      row.diagonal = k;
    } else {
      row.beside = std::max(row.beside, size);
    }
  }
  return row;
}

/// With all entries stored, values undefined.
CsrBuffers<double> full_matrix(const std::shared_ptr<Device>& device, LocalIndex n) {
  auto pattern = std::make_shared<CsrPattern>();
  pattern->rows = pattern->columns = n;
  pattern->nonzeros = Offset{n} * n;
  pattern->row_offsets = Buffer<Offset>(device, static_cast<std::size_t>(n) + 1);
  pattern->column_indices = Buffer<LocalIndex>(device, static_cast<std::size_t>(pattern->nonzeros));
  pattern->row_offsets.data()[0] = 0;
  for (LocalIndex i = 0; i < n; ++i) {
    pattern->row_offsets.data()[i + 1] = Offset{i + 1} * n;
    for (LocalIndex j = 0; j < n; ++j) pattern->column_indices.data()[Offset{i} * n + j] = j;
  }
  Buffer<double> values(device, static_cast<std::size_t>(pattern->nonzeros));
  return {std::move(pattern), std::move(values)};
}

double inf_norm(const double* dense, LocalIndex n) {
  double largest = 0.0;
  for (LocalIndex i = 0; i < n; ++i) {
    double sum = 0.0;
    for (LocalIndex j = 0; j < n; ++j) sum += std::abs(dense[static_cast<std::size_t>(i) * n + j]);
    largest = std::max(largest, sum);
  }
  return largest;
}

/// Gauss-Jordan in place; false where a pivot is not positive.
bool invert(double* dense, LocalIndex n) {
  for (LocalIndex k = 0; k < n; ++k) {
    double* pivot_row = dense + static_cast<std::size_t>(k) * n;
    const double pivot = pivot_row[k];
    if (!(pivot > 0.0)) return false;
    pivot_row[k] = 1.0;
    for (LocalIndex j = 0; j < n; ++j) pivot_row[j] /= pivot;
#pragma omp parallel for schedule(static) if (n > 100)
    for (LocalIndex i = 0; i < n; ++i) {
      if (i == k) continue;
      double* row = dense + static_cast<std::size_t>(i) * n;
      const double factor = row[k];
      row[k] = 0.0;
      for (LocalIndex j = 0; j < n; ++j) row[j] -= factor * pivot_row[j];
    }
  }
  return true;
}

/// What smoothers divide by, and the numbers that all of it, and of what Jacobi divides by, are, or 0.
void damp_diagonal(MatrixNumbers& numbers, Neighbourhood& ranks) {
  const std::size_t rows = numbers.diagonal.size();
  const double* from = numbers.jacobi_diagonal().data();
  const double* sums = numbers.row_sums.data();
  double* to = numbers.damped.data();
  double bound = 0.0;
  bool constant = true;
  bool jacobi_constant = true;
#pragma omp parallel for schedule(static) reduction(max : bound) reduction(&& : constant, jacobi_constant)
  for (std::size_t i = 0; i < rows; ++i) {
    to[i] = std::max(std::abs(from[i]), 0.5 * sums[i]);
    constant = constant && to[i] == std::max(std::abs(from[0]), 0.5 * sums[0]);
    jacobi_constant = jacobi_constant && from[i] == from[0];
    if (to[i] > 0.0) bound = std::max(bound, sums[i] / to[i]);
  }
  std::optional<ConstantEntries> own;
  if (rows > 0) own = {constant ? to[0] : 0.0, jacobi_constant ? from[0] : 0.0};
  take_damped(numbers, bound, own, ranks);
}

/// Entries that are too small to be those of a positive semi-definite matrix are raised.
void raise_diagonal(const CsrView<double>& a, MatrixNumbers& numbers) {
  const double largest = numbers.largest_diagonal;
  double bound = 0.0;
#pragma omp parallel for schedule(static) reduction(max : bound)
  for (LocalIndex i = 0; i < a.rows; ++i) {
    const RowOfMatrix row = look_at(a, i);
    double d = numbers.diagonal.data()[i];
    d = raised_entry(d, row.beside, largest);
    numbers.raised.data()[i] = d;
    bound = std::max(bound, row.sum / std::abs(d));
  }
  numbers.jacobi_bound = bound;
}

}  // namespace

MatrixNumbers numbers(const std::shared_ptr<Device>& device, const CsrView<double>& a, Neighbourhood& ranks) {
  MatrixNumbers result;
  ranks.collectively([&] {
    for (Buffer<double>* each : {&result.diagonal, &result.row_sums, &result.damped})
      *each = Buffer<double>(device, static_cast<std::size_t>(a.rows));
  });
  double norm_inf = 0.0;
  double scaled = 0.0;
  double damped = 0.0;
  double largest = 0.0;
  double least_sound = 0.0;  // max_i r_i^2 / |d_i|, r_i the largest entry beside d_i
  std::int64_t exponents = 0;
  std::int64_t full_rows = 0;
#pragma omp parallel for schedule(static) reduction(max : norm_inf, scaled, damped, largest, least_sound) \
    reduction(+ : exponents, full_rows)
  for (LocalIndex i = 0; i < a.rows; ++i) {
    const RowOfMatrix row = look_at(a, i);
    const double value = row.diagonal >= 0 ? a.values[row.diagonal] : 0.0;
    const double d = std::abs(value);
    result.diagonal.data()[i] = value;
    result.row_sums.data()[i] = row.sum;
    norm_inf = std::max(norm_inf, row.sum);
    scaled = std::max(scaled, row.sum / (d != 0.0 ? d : 1.0));
    if (row.sum > 0.0) damped = std::max(damped, row.sum / std::max(d, 0.5 * row.sum));
    largest = std::max(largest, d);
    least_sound =
        std::max(least_sound, d != 0.0 ? row.beside * (row.beside / d) : std::numeric_limits<double>::infinity());
    if (!(row.sum > 0.0) || !std::isfinite(row.sum)) continue;
    exponents += std::ilogb(row.sum);
    ++full_rows;
  }
  if (take_findings(result, {norm_inf, scaled, damped, largest, least_sound}, {exponents, full_rows}, ranks)) {
    ranks.collectively([&] { result.raised = Buffer<double>(device, static_cast<std::size_t>(a.rows)); });
    raise_diagonal(a, result);
    ranks.raise_to_largest(std::span(&result.jacobi_bound, 1));
  }
  damp_diagonal(result, ranks);
  return result;
}

void settle_empty_rows(const CsrView<double>& a, double* values, double noise, double replacement) {
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < a.rows; ++i) {
    const RowOfMatrix row = look_at(a, i);
    if (row.diagonal < 0 || std::abs(values[row.diagonal]) > noise) continue;
    values[row.diagonal] = row.sum == 0.0 ? replacement : 0.0;
  }
}

std::optional<CsrBuffers<double>> inverse(const std::shared_ptr<Device>& device, const CsrView<double>& a,
                                          double noise, double relative_noise) {
  const LocalIndex n = a.rows;
  CsrBuffers<double> result = full_matrix(device, n);
  double* values = result.values.data();
  std::fill_n(values, result.values.size(), 0.0);
  for (LocalIndex i = 0; i < n; ++i) {
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
      values[static_cast<std::size_t>(i) * n + a.column_indices[k]] = a.values[k];
  }
  const double norm = inf_norm(values, n);
  if (!invert(values, n)) return std::nullopt;
  if (!(1.0 / inf_norm(values, n) > std::max(noise, relative_noise * norm))) return std::nullopt;
  for (LocalIndex i = 0; i < n; ++i) {
    for (LocalIndex j = 0; j < i; ++j) {
      double& lower = values[static_cast<std::size_t>(i) * n + j];
      double& upper = values[static_cast<std::size_t>(j) * n + i];
      lower = upper = 0.5 * (lower + upper);
    }
  }
  return result;
}

}  // namespace block_eigs::host
