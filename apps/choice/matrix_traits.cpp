#include "apps/choice/matrix_traits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace block_eigs {

namespace {

constexpr double rounding = 1e-10;

/// Traits of coupled rows, and of those that stand alone.
struct Parts {
  MatrixTraits coupled = nothing();
  MatrixTraits alone = nothing();

  static MatrixTraits nothing() {
    MatrixTraits traits;
    traits.least_diagonal = traits.least_row = traits.lower_bound = std::numeric_limits<double>::infinity();
    return traits;
  }
};

/// What one row adds to the traits of the rank's rows.
void take_row(const CsrRows& rows, std::size_t i, GlobalIndex row, Parts& parts) {
  double diagonal = 0.0;
  double sum = 0.0;
  double sizes = 0.0;
  for (Offset k = rows.row_offsets[i]; k < rows.row_offsets[i + 1]; ++k) {
    const double value = rows.values[static_cast<std::size_t>(k)];
    sum += value;
    sizes += std::abs(value);
    if (rows.columns[static_cast<std::size_t>(k)] == row) diagonal = value;
  }
  const double beside = sizes - std::abs(diagonal);
  MatrixTraits& traits = beside > 0.0 ? parts.coupled : parts.alone;
  traits.rows += 1.0;
  if (sizes > 0.0 && std::abs(sum) <= rounding * sizes) traits.zero_sums += 1.0;
  if (diagonal >= beside - rounding * sizes) traits.dominant += 1.0;
  traits.longest_row =
      std::max(traits.longest_row, static_cast<double>(rows.row_offsets[i + 1] - rows.row_offsets[i]));
  traits.least_diagonal = std::min(traits.least_diagonal, diagonal);
  if (sizes > 0.0) traits.least_row = std::min(traits.least_row, sizes);
  traits.scaled_norm = std::max(traits.scaled_norm, sizes / (diagonal != 0.0 ? std::abs(diagonal) : 1.0));
  traits.lower_bound = std::min(traits.lower_bound, diagonal - beside);
  traits.norm_inf = std::max(traits.norm_inf, sizes);
}

/// The traits of some rows into those of all.
void take_part(const MatrixTraits& part, MatrixTraits& all) {
  all.rows += part.rows;
  all.zero_sums += part.zero_sums;
  all.dominant += part.dominant;
  all.longest_row = std::max(all.longest_row, part.longest_row);
  all.least_diagonal = std::min(all.least_diagonal, part.least_diagonal);
  all.least_row = std::min(all.least_row, part.least_row);
  all.lower_bound = std::min(all.lower_bound, part.lower_bound);
  all.norm_inf = std::max(all.norm_inf, part.norm_inf);
  all.scaled_norm = std::max(all.scaled_norm, part.scaled_norm);
}

/// Counts the rows that are longer than others, and their nonzeros. Collective.
void count_hubs(const Communicator& comm, const CsrRows& rows, MatrixTraits& traits) {
  constexpr double longer = 8.0;
  const double length = longer * traits.mean_row();
  Offset nonzeros = 0;
  LocalIndex hubs = 0;
  for (std::size_t i = 1; i < rows.row_offsets.size(); ++i) {
    const Offset entries = rows.row_offsets[i] - rows.row_offsets[i - 1];
    if (!(static_cast<double>(entries) > length)) continue;
    nonzeros += entries;
    ++hubs;
  }
  traits.hubs = comm.sum(static_cast<double>(hubs));
  traits.in_hubs = comm.sum(static_cast<double>(nonzeros)) / traits.nonzeros;
}

}  // namespace

double MatrixTraits::mesh_dimension() const {
  const bool planar = longest_row < 7.0 || (longest_row > 7.0 && longest_row < 20.0 && mean_row() < 9.5);
  return planar ? 2.0 : 3.0;
}

bool MatrixTraits::of_higher_order() const {
  constexpr double of_a_plane = 1.85;  // 2 but for what the measurement is off by
  return like_diffusion() && dominant < 0.5 && alike_lower().known && alike_lower().decay < of_a_plane;
}

double MatrixTraits::scaled_condition() const {
  if (!(least_diagonal > 0.0) || !(scaled_norm < 2.0)) return std::numeric_limits<double>::infinity();
  return scaled_norm / (2.0 - scaled_norm);
}

std::string MatrixTraits::differing_rows() const {
  return fmt::format("rows differ in size by a factor of {:.0e}", norm_inf / least_row);
}

std::string MatrixTraits::reason_for_multigrid() const {
  return like_diffusion() ? "rows add up to zero as those of a diffusion do" : "the diagonal is positive";
}

MatrixTraits examine(const Communicator& comm, const CsrRows& rows, const Partition& partition) {
  Parts own;
  const GlobalIndex first = partition.begin(comm.rank());
#pragma omp parallel
  {
    Parts part;
#pragma omp for schedule(static)
    for (LocalIndex i = 0; i < rows.rows(); ++i) take_row(rows, static_cast<std::size_t>(i), first + i, part);
      // Sums are numbers of rows: whole, and the same in any order.
#pragma omp critical
    {
      take_part(part.coupled, own.coupled);
      take_part(part.alone, own.alone);
    }
  }
  const double coupled = comm.sum(own.coupled.rows);
  MatrixTraits& telling = coupled > 0.0 ? own.coupled : own.alone;
  MatrixTraits all;
  all.rows = static_cast<double>(partition.rows());
  all.nonzeros = comm.sum(static_cast<double>(rows.values.size()));
  all.alone = coupled > 0.0 ? all.rows - coupled : 0.0;
  all.null_rows = comm.any(all.alone > 0.0 && !(own.alone.least_diagonal > 0.0));
  all.longest_row = comm.max(telling.longest_row);
  all.least_diagonal = -comm.max(-telling.least_diagonal);
  all.least_row = -comm.max(-telling.least_row);
  all.scaled_norm = comm.max(telling.scaled_norm);
  all.lower_bound = -comm.max(-telling.lower_bound);
  all.norm_inf = comm.max(std::max(own.coupled.norm_inf, own.alone.norm_inf));
  const double counted = std::max(all.rows - all.alone, 1.0);
  all.zero_sums = comm.sum(telling.zero_sums) / counted;
  all.dominant = comm.sum(telling.dominant) / counted;
  if (all.has_hubs()) count_hubs(comm, rows, all);
  return all;
}

}  // namespace block_eigs
