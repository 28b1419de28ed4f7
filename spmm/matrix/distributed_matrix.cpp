#include "spmm/matrix/distributed_matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "spmm/device/raised_entry.hpp"
#include "spmm/error.hpp"
#include "spmm/large_vectors.hpp"
#include "spmm/matrix/split_rows.hpp"
#include "spmm/matrix/whole_rows.hpp"

namespace block_eigs {

namespace {

/// Rows with more than so many times the typical sum stand out.
constexpr double far_above = 100.0;

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
  resize_large(result.diagonal, static_cast<std::size_t>(rows.rows()));
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

std::vector<double> downloaded(const Buffer<double>& values) {
  std::vector<double> result;
  resize_large(result, values.size());
  values.download(result.data());
  return result;
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
                                        Partition column_partition, const SpmmOptions& options,
                                        const DeviceEntries& resident)
    : context_(context), row_partition_(std::move(row_partition)), column_partition_(std::move(column_partition)) {
  if (!take_whole(rows, options, resident)) take_parts(std::move(rows), options, resident);
}

/// The rows of one rank go to a GPU as they are, and their numbers are found there. False where there are more
/// ranks, or something is wrong with the rows, which take_parts() will say.
template <class T>
bool DistributedMatrix<T>::take_whole(CsrRows& rows, const SpmmOptions& options, const DeviceEntries& resident) {
  if constexpr (std::is_same_v<T, double>) {
    const bool all_rows = rows.row_begin == 0 && rows.rows() == row_partition_.rows() && rows.rows() > 0;
    if (context_.comm.size() > 1 || context_.device->host_addressable() || !all_rows || !resident.wide ||
        row_partition_.rows() != column_partition_.rows())
      return false;
    HaloPlan plan(context_.comm, column_partition_, {});
    context_.comm.collectively([&] {
      std::optional<CsrBuffers<double>> arrays;
      if (resident) {
        arrays = borrow_whole<double>(context_.device, rows, resident);
      } else {
        arrays = upload_whole(context_.device, rows, rows.rows());
      }
      if (!arrays) return;
      rows = {};
      MatrixNumbers numbers = make_sparse_algebra(context_.device)->numbers(arrays->view());
      numbers.damped = {};
      if (numbers.norm_inf <= far_above * numbers.typical_row_sum) numbers.row_sums = {};
      numbers_ = std::make_shared<const MatrixNumbers>(std::move(numbers));
      take_numbers();
      global_nonzeros_ = nonzeros_ = arrays->pattern->nonzeros;
      matrix_ = std::make_unique<SplitMatrix<T>>(context_, CsrMatrix<T>(context_, std::move(*arrays), options),
                                                 CsrMatrix<T>(context_, CsrArrays<T>{}, {}), std::move(plan));
    });
    return matrix_ != nullptr;
  }
  return false;
}

template <class T>
void DistributedMatrix<T>::take_numbers() {
  norm_inf_ = numbers_->norm_inf;
  typical_row_sum_ = numbers_->typical_row_sum;
  scaled_gershgorin_ = numbers_->scaled_gershgorin;
  jacobi_bound_ = numbers_->jacobi_bound;
}

/// Collective.
template <class T>
void DistributedMatrix<T>::take_parts(CsrRows rows, const SpmmOptions& options, const DeviceEntries& resident) {
  const Communicator& comm = context_.comm;
  const GlobalIndex begin = column_partition_.begin(comm.rank());
  const GlobalIndex end = column_partition_.end(comm.rank());
  std::array<std::int64_t, 2> exponents{};  // their sum, and of how many rows
  std::array<double, 2> diagonals{};        // largest, and what the largest has to be for all to be sound
  comm.collectively([&] {
    check(rows, row_partition_, column_partition_, comm.rank());
    ghosts_ = block_eigs::ghost_columns(rows, begin, end);
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
  typical_row_sum_ = full_rows > 0 ? std::min(std::ldexp(1.0, mean), norm_inf_) : 0.0;
  if (norm_inf_ > far_above * typical_row_sum_) comm.collectively([&] { row_sums_ = absolute_sums(rows); });
  scaled_gershgorin_ = jacobi_bound_ = comm.max(scaled_gershgorin_);
  const bool square = row_partition_.rows() == column_partition_.rows();
  const double largest = comm.max(diagonals[0]);
  if (comm.max(diagonals[1]) > too_small * largest && square) raise_diagonal(rows, largest);
  global_nonzeros_ = comm.sum(std::int64_t{rows.nonzeros()});
  nonzeros_ = rows.nonzeros();
  HaloPlan plan(comm, column_partition_, ghosts_);
  neighbours_ = static_cast<int>(plan.sources().size());
  comm.collectively([&] {
    if (resident) {
      require(comm.size() == 1 && resident.wide == std::is_same_v<T, double>,
              "distributed matrix: entries on the device are those of one rank, in its precision");
      matrix_ = std::make_unique<SplitMatrix<T>>(
          context_, CsrMatrix<T>(context_, borrow_whole<T>(context_.device, rows, resident), options),
          CsrMatrix<T>(context_, CsrArrays<T>{}, {}), std::move(plan));
      return;
    }
    SplitRows<T> parts = split<T>(rows, begin, end, ghosts_);
    rows = {};
    matrix_ = std::make_unique<SplitMatrix<T>>(context_, std::move(parts.own), std::move(parts.boundary),
                                               std::move(plan), options);
  });
}

template <class T>
DistributedMatrix<T>::DistributedMatrix(const Context<T>& context, CsrParts<T> parts, Partition row_partition,
                                        Partition column_partition, std::shared_ptr<const MatrixNumbers> numbers,
                                        const SpmmOptions& options)
    : context_(context),
      row_partition_(std::move(row_partition)),
      column_partition_(std::move(column_partition)),
      numbers_(std::move(numbers)),
      norm_inf_(std::numeric_limits<double>::quiet_NaN()),
      ghosts_(std::move(parts.ghosts)) {
  nonzeros_ = parts.own.pattern->nonzeros + (parts.boundary.pattern ? parts.boundary.pattern->nonzeros : 0);
  global_nonzeros_ = context_.comm.sum(std::int64_t{nonzeros_});
  if (numbers_) take_numbers();
  HaloPlan plan(context_.comm, column_partition_, ghosts_);
  neighbours_ = static_cast<int>(plan.sources().size());
  context_.comm.collectively([&] {
    CsrMatrix<T> boundary =
        ghosts_.empty() ? CsrMatrix<T>(context_, CsrArrays<T>{}, {})
                        : CsrMatrix<T>(context_, std::move(parts.boundary), {}, std::move(parts.boundary_rows));
    matrix_ = std::make_unique<SplitMatrix<T>>(context_, CsrMatrix<T>(context_, std::move(parts.own), options),
                                               std::move(boundary), std::move(plan));
  });
}

template <class T>
const std::vector<double>& DistributedMatrix<T>::diagonal() const {
  if (numbers_ && diagonal_.empty()) diagonal_ = downloaded(numbers_->diagonal);
  return diagonal_;
}

template <class T>
const std::vector<double>& DistributedMatrix<T>::jacobi_diagonal() const {
  if (numbers_ && raised_.empty()) raised_ = downloaded(numbers_->raised);
  return raised_.empty() ? diagonal() : raised_;
}

template <class T>
const std::vector<double>& DistributedMatrix<T>::row_sums() const {
  if (numbers_ && row_sums_.empty() && norm_inf_ > far_above * typical_row_sum_)
    row_sums_ = downloaded(numbers_->row_sums);
  return row_sums_;
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
      d = raised_entry(d, beside, largest);
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
  return matrix_->bytes() + (numbers_ ? numbers_->bytes() : 0);
}

template <class T>
std::size_t DistributedMatrix<T>::work_bytes(LocalIndex cols) const {
  return 2 * ghosts_.size() * static_cast<std::size_t>(cols) * sizeof(T);
}

template class DistributedMatrix<float>;
template class DistributedMatrix<double>;

}  // namespace block_eigs
