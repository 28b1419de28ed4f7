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
#include "spmm/matrix/row_numbers.hpp"
#include "spmm/matrix/split_rows.hpp"
#include "spmm/matrix/whole_rows.hpp"
#include "spmm/parallel/all_ranks.hpp"
#include "spmm/parallel/local_numbers.hpp"

namespace block_eigs {

namespace {

/// Rows with more than so many times the typical sum stand out.
constexpr double far_above = 100.0;

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

/// What rows have beyond the rank's own columns, as many as local numbers count. Not collective.
std::vector<GlobalIndex> counted_ghosts(const Communicator& comm, const CsrRows& rows, GlobalIndex begin,
                                        GlobalIndex end) {
  std::vector<GlobalIndex> ghosts = ghost_columns(rows, begin, end);
  require_local_numbers(end - begin, static_cast<GlobalIndex>(ghosts.size()), comm.rank(), comm.size());
  return ghosts;
}

}  // namespace

template <class T>
DistributedMatrix<T>::DistributedMatrix(const Context<T>& context, CsrRows rows, Partition row_partition,
                                        Partition column_partition, const SpmmOptions& options,
                                        const DeviceEntries& resident)
    : DistributedMatrix(context, std::move(row_partition), std::move(column_partition)) {
  if (!take_to_device(rows, options, resident)) take_from_host(std::move(rows), options, resident);
}

/// Rows go to a GPU as they are; their numbers are found and they are split there. False where this is not a GPU,
/// it has no room for two copies, or something is wrong with the rows, which take_from_host() will say.
/// Collective.
template <class T>
bool DistributedMatrix<T>::take_to_device(CsrRows& rows, const SpmmOptions& options,
                                          const DeviceEntries& resident) {
  if constexpr (std::is_same_v<T, double>) {
    const Communicator& comm = context_.comm;
    if (context_.device->host_addressable() || !resident.wide || row_partition_.rows() == 0 ||
        row_partition_.rows() != column_partition_.rows())
      return false;
    std::optional<CsrBuffers<double>> arrays;
    std::shared_ptr<SparseAlgebra> algebra;
    comm.collectively([&] {
      arrays = arrived(rows, resident);
      algebra = make_sparse_algebra(context_.device);
    });
    if (comm.any(!arrays)) return false;
    rows = {};
    AllRanks ranks(comm);
    MatrixNumbers numbers = algebra->numbers(arrays->view(), ranks);
    numbers.damped = {};
    if (numbers.norm_inf <= far_above * numbers.typical_row_sum) numbers.row_sums = {};
    numbers_ = std::make_shared<const MatrixNumbers>(std::move(numbers));
    take_numbers();
    CsrParts<double> parts;
    comm.collectively([&] {
      if (ghosts_.empty()) {
        parts.own = std::move(*arrays);
        return;
      }
      const GlobalIndex begin = column_partition_.begin(comm.rank());
      const auto below = std::lower_bound(ghosts_.begin(), ghosts_.end(), begin) - ghosts_.begin();
      SplitColumns split = algebra->split_columns(arrays->view(), columns(), static_cast<LocalIndex>(below));
      parts = {std::move(split.own), std::move(split.others), std::move(split.rows), {}};
      arrays.reset();
    });
    take_parts(std::move(parts), options);
    return true;
  }
  return false;
}

/// This rank's rows in device memory, in the numbers of its own columns and of `ghosts_`, which are found. Not
/// collective.
template <class T>
std::optional<CsrBuffers<double>> DistributedMatrix<T>::arrived(const CsrRows& rows,
                                                                const DeviceEntries& resident) {
  const int rank = context_.comm.rank();
  if (rows.row_begin != row_partition_.begin(rank) || rows.rows() != row_partition_.size(rank)) return {};
  if (resident) {
    if (context_.comm.size() > 1) return {};
    return borrow_whole<double>(context_.device, rows, resident);
  }
  const GlobalIndex begin = column_partition_.begin(rank);
  const GlobalIndex end = column_partition_.end(rank);
  if (context_.comm.size() > 1) {
    const std::size_t bytes = rows.row_offsets.size() * sizeof(Offset) +
                              static_cast<std::size_t>(rows.nonzeros()) * (sizeof(LocalIndex) + sizeof(double));
    if (2 * bytes > context_.device->memory().free) return {};
    ghosts_ = counted_ghosts(context_.comm, rows, begin, end);
  }
  return upload_whole(context_.device, rows, {begin, end, ghosts_});
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
void DistributedMatrix<T>::take_from_host(CsrRows rows, const SpmmOptions& options,
                                          const DeviceEntries& resident) {
  const Communicator& comm = context_.comm;
  const GlobalIndex begin = column_partition_.begin(comm.rank());
  const GlobalIndex end = column_partition_.end(comm.rank());
  std::array<std::int64_t, 2> exponents{};  // their sum, and of how many rows
  std::array<double, 2> diagonals{};        // largest, and what the largest has to be for all to be sound
  comm.collectively([&] {
    check(rows, row_partition_, column_partition_, comm.rank());
    ghosts_ = counted_ghosts(comm, rows, begin, end);
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
  if (numbers_) take_numbers();
  take_parts(std::move(parts), options);
}

/// All but numbers and ghosts. Collective.
template <class T>
void DistributedMatrix<T>::take_parts(CsrParts<T> parts, const SpmmOptions& options) {
  nonzeros_ = parts.own.pattern->nonzeros + (parts.boundary.pattern ? parts.boundary.pattern->nonzeros : 0);
  global_nonzeros_ = context_.comm.sum(std::int64_t{nonzeros_});
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
bool DistributedMatrix<T>::apply_products(ConstBlockView<T> x, BlockView<T> y, SmallMatrix& products) {
  if (!context_.kernels->sums_products()) return false;
  ProductStep<T> step;
  step.products = &products;
  step.left = x;
  return apply_step(x, y, step);
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

template <class T>
double DistributedMatrix<T>::blocks_beside(LocalIndex cols) const {
  // Between GPUs of a node; between nodes it is more, on processors less.
  constexpr double slower_to_others = 10.0;
  // Up to so many rows of x for one of y come from caches as fast as one from memory, where they lie near; with
  // more it depends on where they lie, which is not known here.
  constexpr double cached_rows = 10.0;
  const double row = static_cast<double>(cols) * sizeof(T);
  const auto entries = static_cast<double>(nonzeros());
  const double bytes = (sizeof(T) + sizeof(LocalIndex)) * entries + sizeof(Offset) * rows() +
                       slower_to_others * row * static_cast<double>(ghosts_.size());
  const bool known = entries <= cached_rows * rows();
  return context_.comm.max(known ? bytes / std::max(row * rows(), 1.0) : std::numeric_limits<double>::infinity());
}

std::unique_ptr<DistributedMatrix<float>> in_float(const Context<float>& context,
                                                   const DistributedMatrix<double>& a,
                                                   const SpmmOptions& options) {
  std::unique_ptr<DistributedMatrix<float>> copy(
      new DistributedMatrix<float>(context, a.row_partition_, a.column_partition_));
  copy->numbers_ = a.numbers_;
  copy->diagonal_ = a.diagonal_;
  copy->raised_ = a.raised_;
  copy->row_sums_ = a.row_sums_;
  copy->norm_inf_ = a.norm_inf_;
  copy->typical_row_sum_ = a.typical_row_sum_;
  copy->scaled_gershgorin_ = a.scaled_gershgorin_;
  copy->jacobi_bound_ = a.jacobi_bound_;
  copy->global_nonzeros_ = a.global_nonzeros_;
  copy->ghosts_ = a.ghosts_;
  copy->neighbours_ = a.neighbours_;
  copy->nonzeros_ = a.nonzeros_;
  HaloPlan plan(context.comm, a.column_partition_, a.ghosts_);
  context.comm.collectively([&] {
    copy->matrix_ =
        std::make_unique<SplitMatrix<float>>(context, in_float(context, a.own_columns(), options),
                                             in_float(context, a.boundary(), options), std::move(plan));
  });
  return copy;
}

template class DistributedMatrix<float>;
template class DistributedMatrix<double>;

}  // namespace block_eigs
