#include "io/source/check_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "io/source/symmetry.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Where a_ij and a_ji differ most, i being given.
struct WorstPair {
  GlobalIndex column = -1;
  double value = 0.0;
  double mirrored = 0.0;
};

/// Entries of row `row` against those of column `row`, which all ranks send to the row's owner; the result is the
/// owner's. Collective.
WorstPair worst_pair(const Communicator& comm, const Partition& partition, const CsrRows& rows, GlobalIndex row) {
  const int owner = partition.owner(row);
  std::vector<std::vector<std::int64_t>> places(static_cast<std::size_t>(comm.size()));
  std::vector<std::vector<double>> values(places.size());
  for (std::size_t i = 0; i + 1 < rows.row_offsets.size(); ++i) {
    const auto begin = rows.columns.begin() + rows.row_offsets[i];
    const auto end = rows.columns.begin() + rows.row_offsets[i + 1];
    const auto found = std::lower_bound(begin, end, row);
    if (found == end || *found != row) continue;
    places[static_cast<std::size_t>(owner)].push_back(rows.row_begin + static_cast<GlobalIndex>(i));
    values[static_cast<std::size_t>(owner)].push_back(
        rows.values[static_cast<std::size_t>(found - rows.columns.begin())]);
  }
  places = comm.all_to_all(places);
  values = comm.all_to_all(values);
  if (comm.rank() != owner) return {};

  std::vector<std::pair<GlobalIndex, double>> column;
  for (std::size_t r = 0; r < places.size(); ++r) {
    for (std::size_t k = 0; k < places[r].size(); ++k) column.emplace_back(places[r][k], values[r][k]);
  }
  WorstPair worst;
  const auto consider = [&](GlobalIndex j, double value, double mirrored) {
    if (worst.column < 0 || std::abs(value - mirrored) > std::abs(worst.value - worst.mirrored)) {
      worst = {j, value, mirrored};
    }
  };
  const auto local = static_cast<std::size_t>(row - rows.row_begin);
  auto k = static_cast<std::size_t>(rows.row_offsets[local]);
  const auto row_end = static_cast<std::size_t>(rows.row_offsets[local + 1]);
  for (const auto& [j, mirrored] : column) {
    for (; k < row_end && rows.columns[k] < j; ++k) consider(rows.columns[k], rows.values[k], 0.0);
    const bool both = k < row_end && rows.columns[k] == j;
    consider(j, both ? rows.values[k++] : 0.0, mirrored);
  }
  for (; k < row_end; ++k) consider(rows.columns[k], rows.values[k], 0.0);
  return worst;
}

/// Throws where all nonzeros off the diagonal lie on one side of it. Collective.
void check_both_triangles(const Communicator& comm, const CsrRows& rows, const std::string& description) {
  std::int64_t below = 0;
  std::int64_t above = 0;
  for (std::size_t i = 0; i + 1 < rows.row_offsets.size(); ++i) {
    const GlobalIndex row = rows.row_begin + static_cast<GlobalIndex>(i);
    for (Offset k = rows.row_offsets[i]; k < rows.row_offsets[i + 1]; ++k) {
      below += rows.columns[static_cast<std::size_t>(k)] < row ? 1 : 0;
      above += rows.columns[static_cast<std::size_t>(k)] > row ? 1 : 0;
    }
  }
  below = comm.sum(below);
  above = comm.sum(above);
  comm.collectively([&] {
    if (!comm.is_root() || (below > 0) == (above > 0)) return;
    throw InputError(
        fmt::format("{}: is not symmetric: only its {} triangle is stored, and both are needed (SciPy: "
                    "A + A.T - scipy.sparse.diags(A.diagonal()); a Matrix Market file may say 'symmetric' in its "
                    "first line instead)",
                    description, below > 0 ? "lower" : "upper"));
  });
}

}  // namespace

void check_square(const Communicator& comm, const MatrixSource& source) {
  const GlobalIndex rows = source.rows();
  const GlobalIndex columns = source.columns();
  comm.collectively([&] {
    if (!comm.is_root() || rows == columns) return;
    throw InputError(fmt::format("{}: has {} rows and {} columns; a square matrix is needed", source.description(),
                                 rows, columns));
  });
}

void require_finite(const CsrRows& rows, const std::string& description) {
  std::size_t at = rows.values.size();
#pragma omp parallel for schedule(static) reduction(min : at)
  for (std::size_t k = 0; k < rows.values.size(); ++k) {
    if (!std::isfinite(rows.values[k])) at = std::min(at, k);
  }
  if (at == rows.values.size()) return;
  const double bad = rows.values[at];
  const auto after = std::upper_bound(rows.row_offsets.begin(), rows.row_offsets.end(), static_cast<Offset>(at));
  throw InputError(
      fmt::format("{}: the value at row {}, column {} (counted from 0) is {}; all values must be finite",
                  description, rows.row_begin + (after - rows.row_offsets.begin()) - 1, rows.columns[at],
                  std::isnan(bad) ? std::abs(bad) : bad));
}

void check_finite(const Communicator& comm, const CsrRows& rows, const std::string& description) {
  comm.collectively([&] { require_finite(rows, description); });
}

void check_symmetric(const Communicator& comm, const Partition& partition, const CsrRows& rows,
                     const std::string& description, double tolerance) {
  const AsymmetricRow own = most_asymmetric_row(comm, partition, rows);
  const double worst = comm.max(own.deviation);
  if (worst <= tolerance) return;
  check_both_triangles(comm, rows, description);
  const GlobalIndex row = comm.max(own.deviation == worst ? own.row : GlobalIndex{-1});
  const WorstPair pair = worst_pair(comm, partition, rows, row);
  comm.collectively([&] {
    if (partition.owner(row) != comm.rank()) return;
    throw InputError(
        fmt::format("{}: is not symmetric: the value at ({}, {}) is {}, at ({}, {}) it is {} (counted from 0); "
                    "a symmetric matrix is needed; where only rounding parts them, take (A + A.T) / 2",
                    description, row, pair.column, pair.value, pair.column, row, pair.mirrored));
  });
}

}  // namespace block_eigs
