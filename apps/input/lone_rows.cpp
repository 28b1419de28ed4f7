#include "apps/input/lone_rows.hpp"

#include <algorithm>
#include <cmath>

namespace block_eigs {

namespace {

struct RowSums {
  double diagonal = 0.0;
  double beside = 0.0;  ///< sum of |a_ij|, j != i
  double rounding = 0.0;
};

RowSums sums_of(const CsrRows& rows, LocalIndex i) {
  RowSums sums;
  const auto row = static_cast<std::size_t>(i);
  for (Offset k = rows.row_offsets[row]; k < rows.row_offsets[row + 1]; ++k) {
    const double value = rows.values[static_cast<std::size_t>(k)];
    if (rows.columns[static_cast<std::size_t>(k)] == rows.row_begin + i) {
      sums.diagonal = value;
    } else {
      sums.beside += std::abs(value);
    }
  }
  const auto entries = static_cast<double>(rows.row_offsets[row + 1] - rows.row_offsets[row]);
  sums.rounding = entries * std::numeric_limits<double>::epsilon() * (std::abs(sums.diagonal) + sums.beside);
  return sums;
}

/// Whether the row has no entries but its diagonal one, zeros apart.
bool is_alone(const CsrRows& rows, LocalIndex i) {
  const auto row = static_cast<std::size_t>(i);
  for (Offset k = rows.row_offsets[row]; k < rows.row_offsets[row + 1]; ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (rows.values[at] != 0.0 && rows.columns[at] != rows.row_begin + i) return false;
  }
  return true;
}

}  // namespace

LoneRows find_lone_rows(const CsrRows& a) {
  std::vector<char> alone(static_cast<std::size_t>(a.rows()));
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < a.rows(); ++i) alone[static_cast<std::size_t>(i)] = is_alone(a, i) ? 1 : 0;
  LoneRows lone;
  for (LocalIndex i = 0; i < a.rows(); ++i) {
    if (alone[static_cast<std::size_t>(i)] == 0) continue;
    lone.rows.push_back(i);
    lone.values.push_back(sums_of(a, i).diagonal);
    lone.lengths.push_back(1.0);
  }
  return lone;
}

void bound_others(const CsrRows& a, LoneRows& lone) {
  double lower = lone.lower;
  double upper = lone.upper;
#pragma omp parallel for schedule(static) reduction(min : lower) reduction(max : upper)
  for (LocalIndex i = 0; i < a.rows(); ++i) {
    if (is_alone(a, i)) continue;
    const RowSums sums = sums_of(a, i);
    lower = std::min(lower, sums.diagonal - sums.beside + sums.rounding);
    upper = std::max(upper, sums.diagonal + sums.beside - sums.rounding);
  }
  lone.lower = lower;
  lone.upper = upper;
}

void take_mass(const CsrRows& b, LoneRows& lone) {
  LoneRows with_mass;
  with_mass.lower = lone.lower;
  with_mass.upper = lone.upper;
  for (std::size_t k = 0; k < lone.rows.size(); ++k) {
    const RowSums sums = sums_of(b, lone.rows[k]);
    if (sums.beside > 0.0) {
      with_mass.lower = std::min(with_mass.lower, lone.values[k]);
      with_mass.upper = std::max(with_mass.upper, lone.values[k]);
      continue;
    }
    with_mass.rows.push_back(lone.rows[k]);
    with_mass.values.push_back(lone.values[k] / sums.diagonal);
    with_mass.lengths.push_back(std::sqrt(sums.diagonal));
  }
  lone = std::move(with_mass);
}

}  // namespace block_eigs
