#include "io/source/check_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Entries whose contributions travel in one exchange.
constexpr std::size_t chunk = std::size_t{1} << 21;

/// The random vector of the probe: magnitude in [1, 2), either sign, the same on all ranks (splitmix64 of the
/// index).
double probe(GlobalIndex i) {
  auto z = static_cast<std::uint64_t>(i) + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  z ^= z >> 31;
  const double magnitude = 1.0 + static_cast<double>(z >> 12) * 0x1p-52;
  return (z & 1) != 0 ? magnitude : -magnitude;
}

/// Sum of terms and of their absolute values.
struct ProbeSum {
  double sum = 0.0;
  double size = 0.0;
  void add(double term) {
    sum += term;
    size += std::abs(term);
  }
};

struct Contribution {
  GlobalIndex column = 0;
  ProbeSum sum;
};

/// Adds up A^T x, own columns at once, those of other ranks in messages.
class TransposedProbe {
 public:
  TransposedProbe(const Communicator& comm, const Partition& partition)
      : comm_(comm),
        partition_(partition),
        begin_(partition.begin(comm.rank())),
        end_(partition.end(comm.rank())),
        sums_(static_cast<std::size_t>(end_ - begin_)) {}

  void add(GlobalIndex column, double term) {
    if (column >= begin_ && column < end_) {
      sums_[static_cast<std::size_t>(column - begin_)].add(term);
    } else {
      outgoing_.push_back({column, {term, std::abs(term)}});
    }
  }
  std::size_t waiting() const { return outgoing_.size(); }

  /// Collective.
  void exchange() {
    std::vector<std::vector<std::int64_t>> columns;
    std::vector<std::vector<double>> sums;
    comm_.collectively([&] { pack(columns, sums); });
    columns = comm_.all_to_all(columns);
    sums = comm_.all_to_all(sums);
    for (std::size_t r = 0; r < columns.size(); ++r) {
      for (std::size_t k = 0; k < columns[r].size(); ++k) {
        ProbeSum& own = sums_[static_cast<std::size_t>(columns[r][k] - begin_)];
        own.sum += sums[r][2 * k];
        own.size += sums[r][2 * k + 1];
      }
    }
  }

  const std::vector<ProbeSum>& sums() const { return sums_; }

 private:
  /// What waits, added up by columns, into one message for each rank.
  void pack(std::vector<std::vector<std::int64_t>>& columns, std::vector<std::vector<double>>& sums) {
    std::sort(outgoing_.begin(), outgoing_.end(),
              [](const auto& a, const auto& b) { return a.column < b.column; });
    columns.resize(static_cast<std::size_t>(comm_.size()));
    sums.resize(columns.size());
    for (std::size_t first = 0; first < outgoing_.size();) {
      Contribution merged = outgoing_[first];
      for (++first; first < outgoing_.size() && outgoing_[first].column == merged.column; ++first) {
        merged.sum.sum += outgoing_[first].sum.sum;
        merged.sum.size += outgoing_[first].sum.size;
      }
      const auto owner = static_cast<std::size_t>(partition_.owner(merged.column));
      columns[owner].push_back(merged.column);
      sums[owner].insert(sums[owner].end(), {merged.sum.sum, merged.sum.size});
    }
    outgoing_.clear();
  }

  const Communicator& comm_;
  const Partition& partition_;
  GlobalIndex begin_;
  GlobalIndex end_;
  std::vector<ProbeSum> sums_;
  std::vector<Contribution> outgoing_;
};

/// The row of the calling rank that deviates most.
struct WorstRow {
  double deviation = 0.0;
  GlobalIndex row = -1;
};

WorstRow worst_own_row(const Communicator& comm, const Partition& partition, const CsrRows& rows) {
  std::optional<TransposedProbe> transposed;
  std::vector<ProbeSum> forward;
  comm.collectively([&] {
    transposed.emplace(comm, partition);
    forward.resize(static_cast<std::size_t>(rows.rows()));
  });
  std::size_t i = 0;
  const auto multiply_some = [&] {
    for (; i < forward.size() && transposed->waiting() < chunk; ++i) {
      const GlobalIndex row = rows.row_begin + static_cast<GlobalIndex>(i);
      const double x = probe(row);
      for (Offset k = rows.row_offsets[i]; k < rows.row_offsets[i + 1]; ++k) {
        const GlobalIndex column = rows.columns[static_cast<std::size_t>(k)];
        const double value = rows.values[static_cast<std::size_t>(k)];
        if (column == row) continue;
        forward[i].add(value * probe(column));
        transposed->add(column, value * x);
      }
    }
  };
  while (comm.any(i < forward.size())) {
    comm.collectively(multiply_some);
    transposed->exchange();
  }
  WorstRow worst;
  for (i = 0; i < forward.size(); ++i) {
    const ProbeSum& backward = transposed->sums()[i];
    const double size = forward[i].size + backward.size;
    const double deviation = size > 0.0 ? std::abs(forward[i].sum - backward.sum) / size : 0.0;
    if (deviation > worst.deviation) worst = {deviation, rows.row_begin + static_cast<GlobalIndex>(i)};
  }
  return worst;
}

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
        fmt::format("{}: is not symmetric: only its {} triangle is stored; save the full matrix (SciPy: "
                    "A + A.T - scipy.sparse.diags(A.diagonal())) or, in Matrix Market, mark it 'symmetric' in "
                    "the first line",
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
  const auto bad =
      std::find_if(rows.values.begin(), rows.values.end(), [](double v) { return !std::isfinite(v); });
  if (bad == rows.values.end()) return;
  const auto at = bad - rows.values.begin();
  const auto after = std::upper_bound(rows.row_offsets.begin(), rows.row_offsets.end(), at);
  throw InputError(
      fmt::format("{}: the value at row {}, column {} (counted from 0) is {}; all values must be finite",
                  description, rows.row_begin + (after - rows.row_offsets.begin()) - 1,
                  rows.columns[static_cast<std::size_t>(at)], std::isnan(*bad) ? std::abs(*bad) : *bad));
}

void check_finite(const Communicator& comm, const CsrRows& rows, const std::string& description) {
  comm.collectively([&] { require_finite(rows, description); });
}

double asymmetry(const Communicator& comm, const Partition& partition, const CsrRows& rows) {
  return comm.max(worst_own_row(comm, partition, rows).deviation);
}

void check_symmetric(const Communicator& comm, const Partition& partition, const CsrRows& rows,
                     const std::string& description) {
  const WorstRow own = worst_own_row(comm, partition, rows);
  const double worst = comm.max(own.deviation);
  if (worst <= symmetry_tolerance) return;
  check_both_triangles(comm, rows, description);
  const GlobalIndex row = comm.max(own.deviation == worst ? own.row : GlobalIndex{-1});
  const WorstPair pair = worst_pair(comm, partition, rows, row);
  comm.collectively([&] {
    if (partition.owner(row) != comm.rank()) return;
    throw InputError(
        fmt::format("{}: is not symmetric: the value at ({}, {}) is {}, at ({}, {}) it is {} (counted from 0); "
                    "a symmetric matrix is needed; where only rounding parts them, save (A + A.T) / 2",
                    description, row, pair.column, pair.value, pair.column, row, pair.mirrored));
  });
}

}  // namespace block_eigs
