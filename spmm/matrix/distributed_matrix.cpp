#include "spmm/matrix/distributed_matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "spmm/error.hpp"
#include "spmm/first_error.hpp"
#include "spmm/host/runtime/threads.hpp"

namespace block_eigs {

namespace {

/// The two parts of a rank's rows, in local column numbers.
template <class T>
struct SplitRows {
  CsrArrays<T> own;
  CsrArrays<T> boundary;
};

void sort_without_duplicates(std::vector<GlobalIndex>& columns) {
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
}

std::vector<GlobalIndex> ghost_columns(const CsrRows& rows, GlobalIndex begin, GlobalIndex end) {
  std::vector<GlobalIndex> ghosts;
  FirstError failure;
  const int parts = host::threads();
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    failure.run([&] {
      std::vector<GlobalIndex> mine;
      const host::Range own = host::part_of(static_cast<std::int64_t>(rows.columns.size()), part, parts);
      for (std::int64_t k = own.begin; k < own.end; ++k) {
        const GlobalIndex column = rows.columns[static_cast<std::size_t>(k)];
        if (column < begin || column >= end) mine.push_back(column);
      }
      sort_without_duplicates(mine);
#pragma omp critical(ghost_columns)
      failure.run([&] { ghosts.insert(ghosts.end(), mine.begin(), mine.end()); });
    });
  }
  failure.rethrow();
  sort_without_duplicates(ghosts);
  ghosts.shrink_to_fit();
  return ghosts;
}

/// Where the own and the ghost entries of every row go: offsets of both parts.
template <class T>
void count_entries(const CsrRows& rows, GlobalIndex begin, GlobalIndex end, SplitRows<T>& parts) {
  std::vector<Offset> ghosts_of(static_cast<std::size_t>(rows.rows()), 0);
  parts.own.row_offsets.assign(rows.row_offsets.size(), 0);
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    Offset own = 0;
    for (Offset k = rows.row_offsets[row]; k < rows.row_offsets[row + 1]; ++k) {
      const GlobalIndex column = rows.columns[static_cast<std::size_t>(k)];
      own += column >= begin && column < end ? 1 : 0;
    }
    parts.own.row_offsets[row + 1] = own;
    ghosts_of[row] = rows.row_offsets[row + 1] - rows.row_offsets[row] - own;
  }
  for (std::size_t row = 0; row < ghosts_of.size(); ++row) {
    parts.own.row_offsets[row + 1] += parts.own.row_offsets[row];
    if (ghosts_of[row] == 0) continue;
    parts.boundary.row_map.push_back(static_cast<LocalIndex>(row));
    parts.boundary.row_offsets.push_back(parts.boundary.row_offsets.back() + ghosts_of[row]);
  }
}

/// Where no column is a ghost: the arrays of `rows` themselves, but for narrower column numbers.
template <class T>
SplitRows<T> take_whole(CsrRows& rows, GlobalIndex begin, GlobalIndex end) {
  SplitRows<T> parts;
  parts.own.columns = static_cast<LocalIndex>(end - begin);
  parts.own.row_offsets = std::move(rows.row_offsets);
  parts.own.column_indices.resize(rows.columns.size());
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < rows.columns.size(); ++k) {
    parts.own.column_indices[k] = static_cast<LocalIndex>(rows.columns[k] - begin);
  }
  if constexpr (std::is_same_v<T, double>) {
    parts.own.values = std::move(rows.values);
  } else {
    parts.own.values.resize(rows.values.size());
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < rows.values.size(); ++k) parts.own.values[k] = static_cast<T>(rows.values[k]);
  }
  return parts;
}

template <class T>
SplitRows<T> split(CsrRows& rows, GlobalIndex begin, GlobalIndex end, const std::vector<GlobalIndex>& ghosts) {
  if (ghosts.empty()) return take_whole<T>(rows, begin, end);
  SplitRows<T> parts;
  parts.own.columns = static_cast<LocalIndex>(end - begin);
  parts.boundary.columns = static_cast<LocalIndex>(ghosts.size());
  count_entries(rows, begin, end, parts);
  for (CsrArrays<T>* part : {&parts.own, &parts.boundary}) {
    part->column_indices.resize(static_cast<std::size_t>(part->row_offsets.back()));
    part->values.resize(part->column_indices.size());
  }
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    auto at = static_cast<std::size_t>(parts.own.row_offsets[row]);
    for (Offset k = rows.row_offsets[row]; k < rows.row_offsets[row + 1]; ++k) {
      const GlobalIndex column = rows.columns[static_cast<std::size_t>(k)];
      if (column < begin || column >= end) continue;
      parts.own.column_indices[at] = static_cast<LocalIndex>(column - begin);
      parts.own.values[at++] = static_cast<T>(rows.values[static_cast<std::size_t>(k)]);
    }
  }
  std::size_t at = 0;
  for (const LocalIndex i : parts.boundary.row_map) {
    const auto row = static_cast<std::size_t>(i);
    for (Offset k = rows.row_offsets[row]; k < rows.row_offsets[row + 1]; ++k) {
      const GlobalIndex column = rows.columns[static_cast<std::size_t>(k)];
      if (column >= begin && column < end) continue;
      const auto ghost = std::lower_bound(ghosts.begin(), ghosts.end(), column) - ghosts.begin();
      parts.boundary.column_indices[at] = static_cast<LocalIndex>(ghost);
      parts.boundary.values[at++] = static_cast<T>(rows.values[static_cast<std::size_t>(k)]);
    }
  }
  return parts;
}

/// A diagonal entry is raised where a positive semi-definite matrix would have more than this many times as much.
constexpr double too_small = 2.0;

struct RowNumbers {
  std::vector<double> diagonal;
  double norm_inf = 0.0;
  std::int64_t exponents = 0;  ///< sum of the binary exponents of sum_j |a_ij|, of rows that are not zero
  std::int64_t rows = 0;       ///< these
  double scaled_gershgorin = 0.0;
  double largest_diagonal = 0.0;
  double least_sound = 0.0;  ///< max_i r_i^2 / |d_i|, r_i the largest entry beside d_i; infinite where d_i = 0
};

RowNumbers row_numbers(const CsrRows& rows) {
  RowNumbers result;
  result.diagonal.assign(static_cast<std::size_t>(rows.rows()), 0.0);
  double norm_inf = 0.0;
  double scaled_gershgorin = 0.0;
  double largest = 0.0;
  double least_sound = 0.0;
  std::int64_t exponents = 0;
  std::int64_t full_rows = 0;
#pragma omp parallel for schedule(static) reduction(max : norm_inf, scaled_gershgorin, largest, least_sound) \
    reduction(+ : exponents, full_rows)
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    const auto first = static_cast<std::size_t>(rows.row_offsets[static_cast<std::size_t>(i)]);
    const auto last = static_cast<std::size_t>(rows.row_offsets[static_cast<std::size_t>(i) + 1]);
    double sum = 0.0;
    double beside = 0.0;
    double& diagonal = result.diagonal[static_cast<std::size_t>(i)];
    for (std::size_t k = first; k < last; ++k) {
      const double size = std::abs(rows.values[k]);
      sum += size;
      if (rows.columns[k] == rows.row_begin + i) {
        diagonal = rows.values[k];
      } else {
        beside = std::max(beside, size);
      }
    }
    norm_inf = std::max(norm_inf, sum);
    if (sum > 0.0 && std::isfinite(sum)) {
      exponents += std::ilogb(sum);
      ++full_rows;
    }
    const double d = std::abs(diagonal);
    scaled_gershgorin = std::max(scaled_gershgorin, sum / (d != 0.0 ? d : 1.0));
    largest = std::max(largest, d);
    least_sound =
        std::max(least_sound, d != 0.0 ? beside * (beside / d) : std::numeric_limits<double>::infinity());
  }
  result.largest_diagonal = largest;
  result.least_sound = least_sound;
  result.norm_inf = norm_inf;
  result.exponents = exponents;
  result.rows = full_rows;
  result.scaled_gershgorin = scaled_gershgorin;
  return result;
}

std::vector<double> sums_of_rows(const CsrRows& rows) {
  std::vector<double> sums(static_cast<std::size_t>(rows.rows()), 0.0);
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (Offset k = rows.row_offsets[row]; k < rows.row_offsets[row + 1]; ++k)
      sums[row] += std::abs(rows.values[static_cast<std::size_t>(k)]);
  }
  return sums;
}

void check(const CsrRows& rows, const Partition& row_partition, const Partition& column_partition, int rank) {
  require(rows.row_begin == row_partition.begin(rank) && rows.rows() == row_partition.size(rank),
          "distributed matrix: the rows given are not those that the partition gives to this rank");
  std::size_t wrong = rows.columns.size();
#pragma omp parallel for schedule(static) reduction(min : wrong)
  for (std::size_t k = 0; k < rows.columns.size(); ++k) {
    if (rows.columns[k] < 0 || rows.columns[k] >= column_partition.rows()) wrong = std::min(wrong, k);
  }
  if (wrong == rows.columns.size()) return;
  throw InputError("sparse matrix: column " + std::to_string(rows.columns[wrong]) +
                   " is out of range; there are " + std::to_string(column_partition.rows()) + " columns");
}

}  // namespace

template <class T>
DistributedMatrix<T>::DistributedMatrix(const Context<T>& context, CsrRows rows, Partition row_partition,
                                        Partition column_partition, const SpmmOptions& options)
    : context_(context), row_partition_(std::move(row_partition)), column_partition_(std::move(column_partition)) {
  const Communicator& comm = context_.comm;
  const GlobalIndex begin = column_partition_.begin(comm.rank());
  const GlobalIndex end = column_partition_.end(comm.rank());
  std::vector<GlobalIndex> ghosts;
  std::array<std::int64_t, 2> exponents{};  // their sum, and of how many rows
  std::array<double, 2> diagonals{};        // largest, and what the largest has to be for all to be sound
  comm.collectively([&] {
    check(rows, row_partition_, column_partition_, comm.rank());
    ghosts = ghost_columns(rows, begin, end);
    RowNumbers numbers = row_numbers(rows);
    diagonal_ = std::move(numbers.diagonal);
    norm_inf_ = numbers.norm_inf;
    exponents = {numbers.exponents, numbers.rows};
    diagonals = {numbers.largest_diagonal, numbers.least_sound};
    if (row_partition_.rows() == column_partition_.rows()) scaled_gershgorin_ = numbers.scaled_gershgorin;
  });
  norm_inf_ = comm.max(norm_inf_);
  const std::int64_t full_rows = comm.sum(exponents[1]);
  const auto mean = static_cast<int>(comm.sum(exponents[0]) / std::max<std::int64_t>(full_rows, 1));
  constexpr double far_above = 100.0;
  typical_row_sum_ = full_rows > 0 ? std::min(std::ldexp(1.0, mean), norm_inf_) : 0.0;
  if (norm_inf_ > far_above * typical_row_sum_) comm.collectively([&] { row_sums_ = sums_of_rows(rows); });
  scaled_gershgorin_ = jacobi_bound_ = comm.max(scaled_gershgorin_);
  const bool square = row_partition_.rows() == column_partition_.rows();
  const double largest = comm.max(diagonals[0]);
  if (comm.max(diagonals[1]) > too_small * largest && square) raise_diagonal(rows, largest);
  global_nonzeros_ = comm.sum(std::int64_t{rows.nonzeros()});
  ghosts_ = static_cast<LocalIndex>(ghosts.size());
  HaloPlan plan(comm, column_partition_, ghosts);
  comm.collectively([&] {
    SplitRows<T> parts = split<T>(rows, begin, end, ghosts);
    rows = {};
    matrix_ = std::make_unique<SplitMatrix<T>>(context_, std::move(parts.own), std::move(parts.boundary),
                                               std::move(plan), options);
  });
}

/// Collective.
template <class T>
void DistributedMatrix<T>::raise_diagonal(const CsrRows& rows, double largest) {
  double bound = 0.0;
  context_.comm.collectively([&] {
    raised_ = diagonal_;
#pragma omp parallel for schedule(static) reduction(max : bound)
    for (LocalIndex i = 0; i < rows.rows(); ++i) {
      const auto first = static_cast<std::size_t>(rows.row_offsets[static_cast<std::size_t>(i)]);
      const auto last = static_cast<std::size_t>(rows.row_offsets[static_cast<std::size_t>(i) + 1]);
      double sum = 0.0;
      double beside = 0.0;
      for (std::size_t k = first; k < last; ++k) {
        const double size = std::abs(rows.values[k]);
        sum += size;
        if (rows.columns[k] != rows.row_begin + i) beside = std::max(beside, size);
      }
      double& d = raised_[static_cast<std::size_t>(i)];
      const double sound = beside > 0.0 ? beside * std::min(1.0, beside / largest) : d == 0.0 ? largest : 0.0;
      if (sound > too_small * std::abs(d)) d = sound;
      if (d == 0.0) d = 1.0;
      bound = std::max(bound, sum / std::abs(d));
    }
  });
  jacobi_bound_ = context_.comm.max(bound);
}

template <class T>
void DistributedMatrix<T>::multiply(ConstBlockView<T> x, BlockView<T> y, Accumulate accumulate) {
  ProductStep<T> step;
  step.gamma = accumulate == Accumulate::yes ? 1.0 : 0.0;
  apply_step(x, y, step);
}

template <class T>
bool DistributedMatrix<T>::apply_step(ConstBlockView<T> x, BlockView<T> y, const ProductStep<T>& step) {
  const Profile::Scope scope(*context_.profile, Phase::spmm);
  matrix_->multiply(x, y, step);
  return true;
}

template <class T>
void DistributedMatrix<T>::reserve(LocalIndex columns) {
  matrix_->reserve(columns);
}

template <class T>
std::size_t DistributedMatrix<T>::bytes() const {
  return matrix_->bytes();
}

template <class T>
std::size_t DistributedMatrix<T>::work_bytes(LocalIndex cols) const {
  return 2 * static_cast<std::size_t>(ghosts_) * static_cast<std::size_t>(cols) * sizeof(T);
}

template class DistributedMatrix<float>;
template class DistributedMatrix<double>;

}  // namespace block_eigs
