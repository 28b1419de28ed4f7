#include "apps/input/held_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace block_eigs {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// What a penalty is at least, beside all that couples its row, and beside every other row.
constexpr double least_penalty = 1e14;
/// Of a row's own rounding errors, what the rows that are held may change it by.
constexpr double share = std::numeric_limits<double>::epsilon() / 16.0;

bool contains(const std::vector<GlobalIndex>& rows, GlobalIndex row) {
  return std::binary_search(rows.begin(), rows.end(), row);
}

double diagonal_of(const CsrRows& rows, LocalIndex i) {
  const auto at = static_cast<std::size_t>(i);
  for (Offset k = rows.row_offsets[at]; k < rows.row_offsets[at + 1]; ++k) {
    const auto entry = static_cast<std::size_t>(k);
    if (rows.columns[entry] == rows.row_begin + i) return rows.values[entry];
  }
  return 0.0;
}

/// Adds up function(entry) of what stands beside the diagonal.
template <class Function>
double sum_beside(const CsrRows& rows, LocalIndex i, const Function& function) {
  double sum = 0.0;
  const auto at = static_cast<std::size_t>(i);
  for (Offset k = rows.row_offsets[at]; k < rows.row_offsets[at + 1]; ++k) {
    const auto entry = static_cast<std::size_t>(k);
    if (rows.columns[entry] != rows.row_begin + i) sum += function(rows.values[entry]);
  }
  return sum;
}

bool may_be_held(const CsrRows& a, LocalIndex i) {
  const double beside = sum_beside(a, i, [](double value) { return std::abs(value); });
  return beside > 0.0 && diagonal_of(a, i) >= least_penalty * beside;
}

/// The calling rank's rows with the property, in parallel.
template <class Property>
std::vector<LocalIndex> rows_with(LocalIndex count, const Property& property) {
  std::vector<char> flags(static_cast<std::size_t>(count));
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < count; ++i) flags[static_cast<std::size_t>(i)] = property(i) ? 1 : 0;
  std::vector<LocalIndex> rows;
  for (LocalIndex i = 0; i < count; ++i) {
    if (flags[static_cast<std::size_t>(i)] != 0) rows.push_back(i);
  }
  return rows;
}

/// Their numbers on all ranks, ascending. Collective.
std::vector<GlobalIndex> numbers_of_all(const Communicator& comm, GlobalIndex first,
                                        const std::vector<LocalIndex>& rows) {
  std::vector<std::int64_t> own;
  for (const LocalIndex row : rows) own.push_back(first + row);
  std::vector<GlobalIndex> all;
  for (const auto& part :
       comm.all_to_all(std::vector<std::vector<std::int64_t>>(static_cast<std::size_t>(comm.size()), own)))
    all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end());
  return all;
}

/// The least sum of |a_kj| over a row k, and the largest, of rows and columns that are not among these.
/// Collective.
struct Sums {
  double least = infinity;
  double most = 0.0;
};
Sums sums_of_others(const Communicator& comm, const CsrRows& a, const std::vector<GlobalIndex>& without) {
  double least = infinity;
  double most = 0.0;
#pragma omp parallel for schedule(static) reduction(min : least) reduction(max : most)
  for (LocalIndex i = 0; i < a.rows(); ++i) {
    if (contains(without, a.row_begin + i)) continue;
    double sum = 0.0;
    const auto at = static_cast<std::size_t>(i);
    for (Offset k = a.row_offsets[at]; k < a.row_offsets[at + 1]; ++k) {
      const auto entry = static_cast<std::size_t>(k);
      if (!contains(without, a.columns[entry])) sum += std::abs(a.values[entry]);
    }
    if (sum > 0.0) least = std::min(least, sum);
    most = std::max(most, sum);
  }
  return {-comm.max(-least), comm.max(most)};
}

}  // namespace

std::string description(const HeldRows& held) {
  if (!held.any()) return "";
  return fmt::format("{} {} held at zero by a penalty", held.all.size(),
                     held.all.size() == 1 ? "row is" : "rows are");
}

HeldRows find_held_rows(const Communicator& comm, const CsrRows& a) {
  const std::vector<LocalIndex> candidates = rows_with(a.rows(), [&](LocalIndex i) { return may_be_held(a, i); });
  if (!comm.any(!candidates.empty())) return {};
  const Sums others = sums_of_others(comm, a, numbers_of_all(comm, a.row_begin, candidates));
  HeldRows held;
  held.stand_in = others.most;
  for (const LocalIndex row : candidates) {
    const double penalty = diagonal_of(a, row);
    const double effect = sum_beside(a, row, [&](double value) { return (value / penalty) * value; });
    if (!(penalty >= least_penalty * others.most) || !(effect <= share * others.least)) continue;
    if (others.most == 0.0) continue;
    held.own.push_back(row);
    held.penalties.push_back(penalty);
  }
  held.values = held.penalties;
  held.all = numbers_of_all(comm, a.row_begin, held.own);
  return held;
}

HeldRows held_with_mass(const Communicator& comm, HeldRows held, const CsrRows& b) {
  if (!held.any()) return held;
  double least = infinity;  // of b_kk of the other rows
  for (LocalIndex i = 0; i < b.rows(); ++i) {
    if (!contains(held.all, b.row_begin + i)) least = std::min(least, diagonal_of(b, i));
  }
  least = -comm.max(-least);
  const double largest_value = held.stand_in / least;  // of the other rows, up to a factor
  bool counts = !(least > 0.0);
  for (std::size_t k = 0; k < held.own.size(); ++k) {
    const double penalty = held.penalties[k];
    const double own = diagonal_of(b, held.own[k]);
    const double effect =
        sum_beside(b, held.own[k], [&](double value) { return (value / penalty) * value * largest_value; });
    counts = counts || !(own * largest_value <= penalty / least_penalty) || !(effect <= share * least);
    held.values[k] = penalty / own;
  }
  return comm.any(counts) ? HeldRows{} : held;
}

Offset take_out_couplings(const HeldRows& held, CsrRows& rows) {
  if (!held.any()) return 0;
  Offset kept = 0;
  Offset begin = 0;
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    const GlobalIndex row = rows.row_begin + i;
    const bool alone = contains(held.all, row);
    const Offset end = rows.row_offsets[static_cast<std::size_t>(i) + 1];
    for (Offset k = begin; k < end; ++k) {
      const auto from = static_cast<std::size_t>(k);
      const GlobalIndex column = rows.columns[from];
      if (column != row && (alone || contains(held.all, column))) continue;
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

void scale_penalties(int exponent_a, int exponent_b, HeldRows& held) {
  for (double& penalty : held.penalties) penalty = std::ldexp(penalty, exponent_a);
  for (double& value : held.values) value = std::ldexp(value, exponent_a - exponent_b);
}

void put_penalties(const HeldRows& held, LoneRows& lone) {
  auto row = lone.rows.begin();
  for (std::size_t k = 0; k < held.own.size(); ++k) {
    row = std::lower_bound(row, lone.rows.end(), held.own[k]);
    lone.values[static_cast<std::size_t>(row - lone.rows.begin())] = held.values[k];
  }
}

}  // namespace block_eigs
