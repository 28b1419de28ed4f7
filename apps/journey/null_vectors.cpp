#include "apps/journey/null_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "solver/block_cg/column_scaling.hpp"
#include "spmm/scatter_bits.hpp"

namespace block_eigs {

namespace {

/// Rounding errors of a row sum, in epsilon of the diagonal entry: of entries that were rounded when stored.
constexpr double rounding = 4.0;

/// Between 1 and 2, without order: entries of a row times these hardly ever add up to
/// zero, as those of a difference stencil do times anything linear.
template <class T>
T weight(GlobalIndex row) {
  const std::uint64_t bits = scatter_bits((static_cast<std::uint64_t>(row) + 1) * golden_step);
  return static_cast<T>(1.0 + std::ldexp(static_cast<double>(bits >> 11), -53));
}

/// Rows of A times the vector of ones, and times weights where `weighted`: rows() x 1 or 2.
template <class T>
std::vector<T> sums_of_rows(BlockSpace<T>& space, DistributedMatrix<T>& a, bool weighted) {
  const LocalIndex cols = weighted ? 2 : 1;
  DenseBlock<T> x = space.make_block(cols);
  DenseBlock<T> y = space.make_block(cols);
  std::vector<T> values(static_cast<std::size_t>(x.rows()) * static_cast<std::size_t>(cols), T(1));
  for (LocalIndex i = 0; weighted && i < x.rows(); ++i) {
    values[2 * static_cast<std::size_t>(i) + 1] = weight<T>(space.first_row() + i);
  }
  x.from_host(values.data());
  a.reserve(cols);
  a.apply(x.view(), y.view());
  return y.to_host();
}

/// Of the tolerance, where `outside` of it is used up: what is left in the square, and no less than can be told
/// from rounding errors. All where that is more than the tolerance: no x would do, or rounding errors decide.
double share_left(double outside, double allowed, double least) {
  if (!(outside < allowed)) return 1.0;
  const double used = outside / allowed;
  return std::max(std::sqrt((1.0 - used) * (1.0 + used)), std::min(1.0, least / allowed));
}

/// Norms of right-hand sides and of what they have along the null vectors, and what follows from these.
template <class T>
RangePart<T> measured(BlockSpace<T>& space, const DenseBlock<T>& f, const DenseBlock<T>& outside,
                      double tolerance) {
  constexpr LocalIndex width = 16;
  const ColumnScaling whole = column_scaling<T>(space, f.view(), width);
  const ColumnScaling along = column_scaling<T>(space, outside.view(), width);
  const double epsilon = std::numeric_limits<T>::epsilon();
  RangePart<T> part;
  part.tolerance = tolerance;
  for (std::size_t j = 0; j < whole.exponents.size(); ++j) {
    const double norm = whole.norm(j);
    const double size = along.norm(j) > epsilon * norm ? along.norm(j) : 0.0;
    part.norms.push_back(norm);
    part.outside.push_back(size);
    part.shares.push_back(share_left(size, tolerance * norm, 10.0 * epsilon * norm));
    part.unsolvable.push_back(size > std::max(tolerance, 10.0 * epsilon) * norm ? 1 : 0);
  }
  return part;
}

/// The largest entry of a right-hand side in an empty row, and that row.
struct Entry {
  double value = 0.0;
  GlobalIndex row = 0;
};

template <class T>
Entry largest_in_empty_rows(BlockSpace<T>& space, const NullVectors<T>& null, const DenseBlock<T>& f,
                            std::size_t column) {
  const std::vector<T> values = f.to_host();
  const auto cols = static_cast<std::size_t>(f.cols());
  double largest = 0.0;
  double row = 0.0;
  for (std::size_t i = 0; i < null.empty.size(); ++i) {
    const auto value = static_cast<double>(values[i * cols + column]);
    if (null.empty[i] == 0 || !(std::abs(value) > std::abs(largest))) continue;
    largest = value;
    row = static_cast<double>(space.first_row()) + static_cast<double>(i);
  }
  const Communicator& comm = space.comm();
  const double size = comm.max(std::abs(largest));
  const bool own = std::abs(largest) == size && size > 0.0;
  const double first = -comm.max(own ? -row : -HUGE_VAL);
  const double sign = comm.max(own && row == first ? (largest > 0.0 ? 1.0 : -1.0) : -2.0);
  return {sign * size, static_cast<GlobalIndex>(first)};
}

template <class T>
std::string remark_on(BlockSpace<T>& space, const NullVectors<T>& null, const DenseBlock<T>& f, std::size_t column,
                      const std::vector<double>& means, const RowOrder* order) {
  std::string text = "A is singular to working precision and a right-hand side is not in its range: ";
  const std::string side = fmt::format("right-hand side {}", column + 1);
  const Entry entry = null.empty.empty() ? Entry{} : largest_in_empty_rows(space, null, f, column);
  if (entry.value != 0.0) {
    text += fmt::format("row {} (counted from 0) of A has no entries, but {} is {:.2g} there",
                        order != nullptr ? order->file_row(entry.row) : entry.row, side, entry.value);
  } else {
    text += fmt::format("the rows of A add up to zero, but {} does not (its mean is {:.2g})", side, means[column]);
  }
  return text;
}

/// Of every right-hand side, over the rows that are not empty.
template <class T>
std::vector<double> means_of(BlockSpace<T>& space, const NullVectors<T>& null, const DenseBlock<T>& f) {
  std::vector<T> shares(static_cast<std::size_t>(f.rows()), T(1));
  for (std::size_t i = 0; i < null.empty.size(); ++i) shares[i] = null.empty[i] != 0 ? T(0) : T(1);
  const auto own = static_cast<double>(std::count(shares.begin(), shares.end(), T(1)));
  const double rows = std::max(1.0, space.comm().sum(own));
  for (T& share : shares) share = static_cast<T>(share / rows);
  DenseBlock<T> average = space.make_block(1);
  average.from_host(shares.data());
  SmallMatrix means;
  space.gram({average.view()}, {f.view()}, means);
  return {means.values().begin(), means.values().end()};
}

}  // namespace

template <class T>
NullVectors<T> find_null_vectors(BlockSpace<T>& space, DistributedMatrix<T>& a) {
  const std::vector<double>& diagonal = a.diagonal();
  const Communicator& comm = space.comm();
  const bool zeros = comm.any(std::find(diagonal.begin(), diagonal.end(), 0.0) != diagonal.end());
  // A row that adds up to zero has no more on its diagonal than beside it.
  const bool may_be_constant = a.scaled_gershgorin_bound() >= 2.0 * (1.0 - 1e-6);
  NullVectors<T> found;
  if (!zeros && !may_be_constant) return found;
  const std::vector<T> sums = sums_of_rows(space, a, zeros);
  const std::size_t cols = zeros ? 2 : 1;
  bool constant = true;
  std::vector<char> empty(zeros ? diagonal.size() : 0, 0);
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const auto sum = static_cast<double>(sums[i * cols]);
    if (diagonal[i] == 0.0) empty[i] = sum == 0.0 && sums[i * cols + 1] == T(0) ? 1 : 0;
    const double noise = rounding * static_cast<double>(std::numeric_limits<T>::epsilon()) * std::abs(diagonal[i]);
    constant = constant && std::abs(sum) <= noise;
  }
  found.constant = may_be_constant && !comm.any(!constant);
  if (comm.any(std::find(empty.begin(), empty.end(), 1) != empty.end())) found.empty = std::move(empty);
  return found;
}

template <class T>
RangePart<T> part_in_range(BlockSpace<T>& space, const NullVectors<T>& null, const DenseBlock<T>& f,
                           double tolerance, const RowOrder* order) {
  RangePart<T> part;
  if (!null.any()) return part;
  const auto cols = static_cast<std::size_t>(f.cols());
  const std::vector<double> means = null.constant ? means_of(space, null, f) : std::vector<double>(cols, 0.0);
  std::vector<T> values = f.to_host();
  std::vector<T> outside(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    const bool empty = !null.empty.empty() && null.empty[k / cols] != 0;
    outside[k] = empty ? values[k] : static_cast<T>(means[k % cols]);
  }
  DenseBlock<T> block = space.make_block(f.cols());
  block.from_host(outside.data());
  part = measured(space, f, block, tolerance);
  if (std::none_of(part.outside.begin(), part.outside.end(), [](double size) { return size > 0.0; })) return part;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (part.outside[k % cols] > 0.0) values[k] -= outside[k];
  }
  block.from_host(values.data());
  part.f = std::move(block);
  const auto first = std::find(part.unsolvable.begin(), part.unsolvable.end(), 1);
  if (first == part.unsolvable.end()) return part;
  const auto column = static_cast<std::size_t>(first - part.unsolvable.begin());
  part.remark = remark_on(space, null, f, column, means, order);
  return part;
}

template <class T>
void count_in(const RangePart<T>& part, BlockCgResult<T>& result) {
  if (!part.any()) return;
  bool solved = true;    // in the range of A, of those that are unsolvable
  bool all_done = true;  // of the others
  for (std::size_t j = 0; j < part.outside.size(); ++j) {
    Outcome& outcome = result.outcomes[j];
    const bool done = outcome != Outcome::not_converged;
    if (part.outside[j] == 0.0) {
      all_done = all_done && done;
      continue;
    }
    const auto whole = [&](double& norm) { norm = std::hypot(norm, part.outside[j]); };
    result.rhs_norms[j] = part.norms[j];
    whole(result.residual_norms[j]);
    whole(result.recursive_residual_norms[j]);
    for (BlockCgIteration& iteration : result.history) whole(iteration.residual_norms[j]);
    if (part.unsolvable[j] != 0) {
      solved = solved && done;
      outcome = Outcome::not_converged;
      continue;
    }
    if (result.residual_norms[j] <= part.tolerance * part.norms[j]) {
      outcome = Outcome::converged;
    } else if (done) {
      outcome = Outcome::at_accuracy_limit;
    }
    all_done = all_done && outcome != Outcome::not_converged;
  }
  if (all_done && solved) {
    // What was asked for beyond the tolerance, so that the whole is below it, need not have been reached.
    result.remark.clear();
    result.findings.end = BlockCgEnd::solved;
  }
  if (part.remark.empty()) return;
  const bool known = result.findings.singular_matrix;
  result.findings.singular_matrix = true;
  // What else may be wanting, there is no solution; but CG is for positive semi-definite matrices alone.
  if (!result.findings.indefinite_matrix && result.findings.end != BlockCgEnd::indefinite_preconditioner)
    result.findings.end = BlockCgEnd::singular_matrix;
  const std::string least_squares = solved ? "; the solutions returned are those of least squares" : "";
  const std::string more = known || result.remark.empty() ? "" : "; " + result.remark;
  result.remark = part.remark + least_squares + more;
}

template struct NullVectors<float>;
template struct NullVectors<double>;
template NullVectors<float> find_null_vectors(BlockSpace<float>&, DistributedMatrix<float>&);
template NullVectors<double> find_null_vectors(BlockSpace<double>&, DistributedMatrix<double>&);
template RangePart<float> part_in_range(BlockSpace<float>&, const NullVectors<float>&, const DenseBlock<float>&,
                                        double, const RowOrder*);
template RangePart<double> part_in_range(BlockSpace<double>&, const NullVectors<double>&,
                                         const DenseBlock<double>&, double, const RowOrder*);
template void count_in(const RangePart<float>&, BlockCgResult<float>&);
template void count_in(const RangePart<double>&, BlockCgResult<double>&);

}  // namespace block_eigs
