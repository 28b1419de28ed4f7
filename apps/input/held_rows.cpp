#include "apps/input/held_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace block_eigs {

namespace {

struct Row {
  double diagonal = 0.0;
  double beside = 0.0;   ///< sum of |a_ij|, j != i
  double squared = 0.0;  ///< of their squares
};

Row row_of(const CsrRows& a, LocalIndex i) {
  Row row;
  const auto at = static_cast<std::size_t>(i);
  for (Offset k = a.row_offsets[at]; k < a.row_offsets[at + 1]; ++k) {
    const double value = a.values[static_cast<std::size_t>(k)];
    if (a.columns[static_cast<std::size_t>(k)] == a.row_begin + i) {
      row.diagonal = value;
    } else {
      row.beside += std::abs(value);
      row.squared += value * value;
    }
  }
  return row;
}

/// What a penalty is at least, beside all that couples its row.
constexpr double least_penalty = 1e14;

bool may_be_held(const Row& row) { return row.beside > 0.0 && row.diagonal >= least_penalty * row.beside; }

}  // namespace

std::string description(const HeldRows& held) {
  if (!held.any()) return "";
  return fmt::format("{} {} held at zero by a penalty", held.all.size(),
                     held.all.size() == 1 ? "row is" : "rows are");
}

HeldRows find_held_rows(const Communicator& comm, const CsrRows& a) {
  // Of a row's own rounding errors, what the rows that are held may change it by.
  constexpr double share = std::numeric_limits<double>::epsilon() / 16.0;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double least = infinity;  // of the other rows' sums
  bool some = false;
#pragma omp parallel for schedule(static) reduction(min : least) reduction(|| : some)
  for (LocalIndex i = 0; i < a.rows(); ++i) {
    const Row row = row_of(a, i);
    const double sum = std::abs(row.diagonal) + row.beside;
    const bool held = may_be_held(row);
    some = some || held;
    if (!held && sum > 0.0) least = std::min(least, sum);
  }
  HeldRows held;
  if (!comm.any(some)) return held;
  least = -comm.max(-least);
  held.stand_in = least;
  std::vector<std::int64_t> own;
  for (LocalIndex i = 0; i < a.rows() && least < infinity; ++i) {
    const Row row = row_of(a, i);
    if (!may_be_held(row) || !(row.squared <= share * least * row.diagonal)) continue;
    held.own.push_back(i);
    held.diagonal.push_back(row.diagonal);
    own.push_back(a.row_begin + i);
  }
  for (const auto& part :
       comm.all_to_all(std::vector<std::vector<std::int64_t>>(static_cast<std::size_t>(comm.size()), own)))
    held.all.insert(held.all.end(), part.begin(), part.end());
  std::sort(held.all.begin(), held.all.end());
  return held;
}

Offset take_out_couplings(const HeldRows& held, CsrRows& rows) {
  if (!held.any()) return 0;
  const auto is_held = [&](GlobalIndex row) { return std::binary_search(held.all.begin(), held.all.end(), row); };
  Offset kept = 0;
  Offset begin = 0;
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    const GlobalIndex row = rows.row_begin + i;
    const bool alone = is_held(row);
    const Offset end = rows.row_offsets[static_cast<std::size_t>(i) + 1];
    for (Offset k = begin; k < end; ++k) {
      const auto from = static_cast<std::size_t>(k);
      const GlobalIndex column = rows.columns[from];
      if (column != row && (alone || is_held(column))) continue;
      const auto to = static_cast<std::size_t>(kept++);
      rows.columns[to] = column;
      rows.values[to] = rows.values[from];
    }
    begin = end;
    rows.row_offsets[static_cast<std::size_t>(i) + 1] = kept;
  }
  const Offset left_out = static_cast<Offset>(rows.columns.size()) - kept;
  rows.columns.resize(static_cast<std::size_t>(kept));
  rows.values.resize(static_cast<std::size_t>(kept));
  return left_out;
}

void replace_penalties(const HeldRows& held, CsrRows& a) {
  for (const LocalIndex row : held.own) {
    const auto at = static_cast<std::size_t>(row);
    for (Offset k = a.row_offsets[at]; k < a.row_offsets[at + 1]; ++k)
      a.values[static_cast<std::size_t>(k)] = held.stand_in;
  }
}

void scale_penalties(int exponent, HeldRows& held) {
  for (double& value : held.diagonal) value = std::ldexp(value, exponent);
}

void put_penalties(const HeldRows& held, LoneRows& lone) {
  auto row = lone.rows.begin();
  for (std::size_t k = 0; k < held.own.size(); ++k) {
    row = std::lower_bound(row, lone.rows.end(), held.own[k]);
    lone.values[static_cast<std::size_t>(row - lone.rows.begin())] = held.diagonal[k];
  }
}

}  // namespace block_eigs
