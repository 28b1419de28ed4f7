#include "io/source/symmetry.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "spmm/first_error.hpp"
#include "spmm/scatter_bits.hpp"

namespace block_eigs {

namespace {

/// Rows that differ from their columns by more of their size need not be compared with others.
constexpr double few = 1e-3;
/// Entries whose contributions travel in one exchange.
constexpr std::size_t chunk = std::size_t{1} << 21;

/// The random vector of the probe: magnitude in [1, 2), either sign, the same on all ranks.
double probe(GlobalIndex i) {
  const std::uint64_t z = scatter_bits(static_cast<std::uint64_t>(i) + golden_step);
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

/// Adds up what other ranks' rows have in the calling rank's columns, A^T x, in messages.
class TransposedProbe {
 public:
  TransposedProbe(const Communicator& comm, const Partition& partition)
      : comm_(comm),
        partition_(partition),
        begin_(partition.begin(comm.rank())),
        sums_(static_cast<std::size_t>(partition.size(comm.rank()))) {}

  void add(GlobalIndex column, double term) { outgoing_.push_back({column, {term, std::abs(term)}}); }
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
  std::vector<ProbeSum> sums_;
  std::vector<Contribution> outgoing_;
};

/// The entries of one row.
struct RowRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

RowRange range_of(const CsrRows& rows, std::size_t i) {
  return {static_cast<std::size_t>(rows.row_offsets[i]), static_cast<std::size_t>(rows.row_offsets[i + 1])};
}

/// Where a_ij of an own row is; nothing where it is not stored.
std::optional<std::size_t> place_of(const CsrRows& rows, std::size_t i, GlobalIndex column) {
  const RowRange row = range_of(rows, i);
  const auto begin = rows.columns.begin() + static_cast<std::ptrdiff_t>(row.begin);
  const auto end = rows.columns.begin() + static_cast<std::ptrdiff_t>(row.end);
  const auto found = std::lower_bound(begin, end, column);
  if (found == end || *found != column) return std::nullopt;
  return static_cast<std::size_t>(found - rows.columns.begin());
}

/// An entry that its own row has, and that of the row `row` is missing.
struct OneSided {
  std::size_t row = 0;
  double size = 0.0;
};

/// Row i against those entries of its column that are on this rank, and what its other entries give with x.
struct RowSums {
  ProbeSum differences;
  ProbeSum elsewhere;
};

RowSums sums_of_row(const CsrRows& rows, std::size_t i, std::vector<OneSided>* one_sided = nullptr) {
  RowSums sums;
  const GlobalIndex own = rows.row_begin + static_cast<GlobalIndex>(i);
  const RowRange row = range_of(rows, i);
  for (std::size_t k = row.begin; k < row.end; ++k) {
    const GlobalIndex column = rows.columns[k];
    if (column == own) continue;
    const GlobalIndex local = column - rows.row_begin;
    if (local >= 0 && local < rows.rows()) {
      const auto there = place_of(rows, static_cast<std::size_t>(local), own);
      if (!there && one_sided != nullptr && rows.values[k] != 0.0)
        one_sided->push_back({static_cast<std::size_t>(local), std::abs(rows.values[k])});
      const double mirrored = there ? rows.values[*there] : 0.0;
      sums.differences.sum += std::abs(rows.values[k] - mirrored);
      sums.differences.size += std::abs(rows.values[k]) + std::abs(mirrored);
    } else {
      sums.elsewhere.add(rows.values[k] * probe(column));
    }
  }
  return sums;
}

/// The one that deviates more; the first of them where they are equal, so that the order does not matter.
AsymmetricRow worse(const AsymmetricRow& a, const AsymmetricRow& b) {
  if (a.deviation != b.deviation) return a.deviation > b.deviation ? a : b;
  return a.row < b.row ? a : b;
}

void consider(const CsrRows& rows, std::size_t i, const RowSums& row, const ProbeSum& backward,
              AsymmetricRow& worst) {
  const double size = row.differences.size + row.elsewhere.size + backward.size;
  const double difference = row.differences.sum + std::abs(row.elsewhere.sum - backward.sum);
  if (difference == 0.0) return;
  const double deviation = std::isfinite(difference) ? difference / size : 1.0;
  worst = worse(worst, {deviation, rows.row_begin + static_cast<GlobalIndex>(i)});
}

/// Ascending by rows, what one row lacks in one.
void merge(std::vector<OneSided>& one_sided) {
  std::sort(one_sided.begin(), one_sided.end(),
            [](const OneSided& a, const OneSided& b) { return a.row != b.row ? a.row < b.row : a.size < b.size; });
  std::size_t count = 0;
  for (const OneSided& each : one_sided) {
    if (count > 0 && one_sided[count - 1].row == each.row) {
      one_sided[count - 1].size += each.size;
    } else {
      one_sided[count++] = each;
    }
  }
  one_sided.resize(count);
}

/// Row i with what it lacks.
RowSums whole_sums_of_row(const CsrRows& rows, std::size_t i, const std::vector<OneSided>& one_sided) {
  RowSums sums = sums_of_row(rows, i);
  const auto lacks = std::lower_bound(one_sided.begin(), one_sided.end(), i,
                                      [](const OneSided& each, std::size_t row) { return each.row < row; });
  if (lacks == one_sided.end() || lacks->row != i) return sums;
  sums.differences.sum += lacks->size;
  sums.differences.size += lacks->size;
  return sums;
}

/// Sends what row i has in columns of other ranks on its way.
void add_row(const CsrRows& rows, std::size_t i, TransposedProbe& transposed) {
  const double x = probe(rows.row_begin + static_cast<GlobalIndex>(i));
  const RowRange row = range_of(rows, i);
  for (std::size_t k = row.begin; k < row.end; ++k) {
    const GlobalIndex local = rows.columns[k] - rows.row_begin;
    if (local < 0 || local >= rows.rows()) transposed.add(rows.columns[k], rows.values[k] * x);
  }
}

}  // namespace

AsymmetricRow most_asymmetric_row(const Communicator& comm, const Partition& partition, const CsrRows& rows) {
  const auto count = static_cast<std::size_t>(rows.rows());
  AsymmetricRow worst;
  std::optional<TransposedProbe> transposed;
  std::vector<std::uint8_t> at_border;  // rows with entries in other ranks' columns
  std::vector<OneSided> one_sided;
  FirstError failure;
  comm.collectively([&] {
    if (comm.size() > 1) transposed.emplace(comm, partition);
    at_border.resize(count);
    // A few rows may be as long as the matrix.
#pragma omp parallel
    {
      AsymmetricRow mine;
      std::vector<OneSided> missing;
#pragma omp for schedule(dynamic, 1024) nowait
      for (std::size_t i = 0; i < count; ++i) {
        failure.run([&] {
          const std::size_t before = missing.size();
          const RowSums sums = sums_of_row(rows, i, &missing);
          at_border[i] = sums.elsewhere.size > 0.0 ? 1 : 0;
          // A row that is wrong itself need not speak of others.
          if (sums.differences.sum > few * sums.differences.size) missing.resize(before);
          if (at_border[i] == 0) consider(rows, i, sums, {}, mine);
        });
      }
#pragma omp critical(most_asymmetric_row)
      failure.run([&] {
        worst = worse(worst, mine);
        one_sided.insert(one_sided.end(), missing.begin(), missing.end());
      });
    }
    failure.rethrow();
    merge(one_sided);
    for (const OneSided& each : one_sided) {
      if (at_border[each.row] == 0)
        consider(rows, each.row, whole_sums_of_row(rows, each.row, one_sided), {}, worst);
    }
  });
  if (!transposed) return worst;
  std::size_t i = 0;
  const auto send_some = [&] {
    for (; i < count && transposed->waiting() < chunk; ++i) {
      if (at_border[i] != 0) add_row(rows, i, *transposed);
    }
  };
  while (comm.any(i < count)) {
    comm.collectively(send_some);
    transposed->exchange();
  }
  for (i = 0; i < count; ++i) {
    const ProbeSum& backward = transposed->sums()[i];
    if (at_border[i] != 0 || backward.size > 0.0)
      consider(rows, i, whole_sums_of_row(rows, i, one_sided), backward, worst);
  }
  return worst;
}

double asymmetry(const Communicator& comm, const Partition& partition, const CsrRows& rows) {
  return comm.max(most_asymmetric_row(comm, partition, rows).deviation);
}

}  // namespace block_eigs
