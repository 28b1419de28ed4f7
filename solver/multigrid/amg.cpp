#include "solver/multigrid/amg.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "solver/multigrid/amg_level.hpp"
#include "solver/multigrid/coarse_inverse.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Of the polynomial that stands for the solution on a coarsest level that is large.
constexpr ChebyshevOptions long_polynomial{8, 0.0};

/// On a GPU a level of so few rows takes its launches, and those of the levels below it, not its work: all of its
/// inverse is multiplied with in less time.
constexpr LocalIndex largest_inverse = 1024;

/// The first `columns` of a block, side by side as if there were no others, so that narrow blocks do not stride
/// over the room of wide ones.
template <class T>
BlockView<T> leading(DenseBlock<T>& block, LocalIndex columns) {
  return {block.view().data, block.rows(), columns, DenseBlock<T>::padded(columns)};
}

/// Whether the coarsest level is solved by its pseudo-inverse. Where coarsening has ended early its rows may be
/// many, and all entries of the inverse are made and stored: then only if that is cheaper to multiply with than
/// the polynomial.
bool is_inverted(GlobalIndex rows, GlobalIndex nonzeros, CoarseningEnd ended, const AmgOptions& options) {
  if (rows > options.largest_dense) return false;
  return ended == CoarseningEnd::none || rows * rows <= (long_polynomial.degree - 1) * nonzeros;
}

void check(const GridHierarchy& hierarchy) {
  require(!hierarchy.empty(), "amg: there are no levels");
  for (std::size_t level = 0; level + 1 < hierarchy.size(); ++level) {
    require(hierarchy[level].interpolation.global_columns == hierarchy[level + 1].partition.rows(),
            "amg: the interpolation of level " + std::to_string(level) + " does not lead to the next one");
  }
}

}  // namespace

template <class T>
Amg<T>::Amg(const Context<T>& context, GridHierarchy hierarchy, const AmgOptions& options)
    : context_(context), coarse_weight_(options.coarse_weight) {
  const Communicator& comm = context.comm;
  comm.collectively([&] { check(hierarchy); });
  double entries = 0.0;
  for (const GridLevel& level : hierarchy) entries += static_cast<double>(level.matrix.nonzeros());
  operator_complexity_ =
      comm.sum(entries) / std::max(1.0, comm.sum(static_cast<double>(hierarchy.front().matrix.nonzeros())));
  ended_ = hierarchy.back().ended;
  for (std::size_t level = 0; level + 1 < hierarchy.size(); ++level) {
    std::vector<double> sums;
    comm.collectively([&] { sums = absolute_sums(hierarchy[level].matrix); });
    levels_.push_back(std::make_unique<Level>(context, std::move(hierarchy[level]), sums,
                                              hierarchy[level + 1].partition, options));
  }
  make_coarsest(std::move(hierarchy.back()), options);
}

template <class T>
Amg<T>::Amg(const Context<T>& context, DeviceHierarchy hierarchy, const AmgOptions& options)
    : context_(context), coarse_weight_(options.coarse_weight) {
  std::vector<DeviceLevel>& levels = hierarchy.levels;
  const aggregation::RowMoving by{with_precision<double>(context), hierarchy.algebra};
  double entries = 0.0;
  for (const DeviceLevel& level : levels) entries += static_cast<double>(level.nonzeros);
  operator_complexity_ = entries / std::max(1.0, static_cast<double>(levels.front().nonzeros));
  ended_ = levels.back().ended;
  bool solved = context.device->host_addressable();
  for (std::size_t level = 0; level + 1 < levels.size(); ++level) {
    std::unique_ptr<DistributedMatrix<T>> inverse;
    if (level > 0 && !solved && levels[level].partition.rows() <= largest_inverse)
      inverse = inverse_of(by, levels[level]);
    solved = solved || inverse;
    levels_.push_back(
        std::make_unique<Level>(context, by, std::move(levels[level]), levels[level + 1].partition, options));
    levels_.back()->inverse = std::move(inverse);
  }
  make_coarsest(by, std::move(levels.back()), options);
}

/// What is left of a singular matrix after rounding errors on the way down must not be inverted.
template <class T>
double Amg<T>::noise() const {
  return levels_.empty() ? 0.0 : 1e-14 * levels_.front()->matrix.norm_inf();
}

template <class T>
void Amg<T>::invert_on_host(const Partition& partition, const CsrRows& matrix) {
  coarse_matrix_ = std::make_unique<DistributedMatrix<T>>(
      context_,
      pseudo_inverse(context_.comm, partition, matrix, noise(),
                     static_cast<double>(std::numeric_limits<T>::epsilon())),
      partition, partition);
}

template <class T>
void Amg<T>::make_coarsest(GridLevel level, const AmgOptions& options) {
  const GlobalIndex nonzeros = context_.comm.sum(std::int64_t{level.matrix.nonzeros()});
  if (is_inverted(level.partition.rows(), nonzeros, level.ended, options)) {
    invert_on_host(level.partition, level.matrix);
    return;
  }
  std::vector<double> sums;
  context_.comm.collectively([&] { sums = absolute_sums(level.matrix); });
  coarse_matrix_ =
      std::make_unique<DistributedMatrix<T>>(context_, std::move(level.matrix), level.partition, level.partition);
  const DampedDiagonal d = damped_diagonal(context_.comm, coarse_matrix_->jacobi_diagonal(), sums);
  context_.comm.collectively([&] {
    coarse_smoother_ =
        std::make_unique<Chebyshev<T>>(context_, *coarse_matrix_, d.entries, d.bound, long_polynomial);
  });
}

template <class T>
void Amg<T>::make_coarsest(const aggregation::RowMoving& by, DeviceLevel level, const AmgOptions& options) {
  const Partition& partition = level.partition;
  if (!is_inverted(partition.rows(), level.nonzeros, level.ended, options)) {
    coarse_matrix_ = std::make_unique<DistributedMatrix<T>>(
        context_, parts_in_precision(context_, by, std::move(level.matrix)), partition, partition, level.numbers);
    context_.comm.collectively([&] {
      coarse_smoother_ = device_smoother(context_, *by.algebra, *coarse_matrix_, *level.numbers, long_polynomial);
    });
    return;
  }
  coarse_matrix_ = inverse_of(by, level);
  if (coarse_matrix_) return;
  CsrRows rows;
  context_.comm.collectively([&] {
    rows = to_host(*context_.device, level.matrix, partition.begin(context_.comm.rank()), partition.rows(),
                   partition.rows());
  });
  invert_on_host(partition, rows);
}

/// By the rank that has all rows. Nothing where they are dealt to several, and where an eigenvalue is so small
/// that the pseudo-inverse would change it.
template <class T>
std::unique_ptr<DistributedMatrix<T>> Amg<T>::inverse_of(const aggregation::RowMoving& by,
                                                         const DeviceLevel& level) const {
  const Communicator& comm = context_.comm;
  const auto rows = static_cast<LocalIndex>(level.partition.rows());
  std::optional<CsrBuffers<double>> inverse;
  comm.collectively([&] {
    const CsrView<double> matrix = level.matrix.view();
    if (matrix.rows != rows) return;
    const double relative_noise = std::max(10.0 * static_cast<double>(std::numeric_limits<T>::epsilon()),
                                           rows * std::numeric_limits<double>::epsilon());
    inverse = by.algebra->inverse(matrix, noise(), relative_noise);
  });
  if (!comm.any(inverse.has_value())) return nullptr;
  aggregation::LocalRows own;
  const GlobalIndex begin = level.partition.begin(comm.rank());
  comm.collectively([&] {
    own.columns = {begin, level.partition.size(comm.rank()), {}};
    own.matrix = inverse ? std::move(*inverse) : aggregation::no_rows(by, own.columns);
  });
  return std::make_unique<DistributedMatrix<T>>(context_, parts_in_precision(context_, by, std::move(own)),
                                                level.partition, level.partition, level.numbers);
}

template <class T>
Amg<T>::~Amg() = default;

template <class T>
LocalIndex Amg<T>::rows() const {
  return levels_.empty() ? coarse_matrix_->rows() : levels_.front()->matrix.rows();
}

template <class T>
std::size_t Amg<T>::bytes() const {
  std::size_t sum = coarse_matrix_->bytes() + (coarse_smoother_ ? coarse_smoother_->bytes() : 0);
  for (const auto& level : levels_) sum += level->bytes();
  return sum;
}

template <class T>
std::size_t Amg<T>::work_bytes(LocalIndex cols) const {
  cols = std::min(cols, most_columns_);
  std::size_t sum = coarse_matrix_->work_bytes(cols) + (coarse_smoother_ ? coarse_smoother_->work_bytes(cols) : 0);
  for (const auto& level : levels_) {
    const bool twice = level->twice && level != levels_.back();
    sum += level->work_bytes(cols) + (twice ? 4 : 2) * DenseBlock<T>::bytes(level->interpolation.columns(), cols);
  }
  return sum;
}

template <class T>
DistributedMatrix<T>& Amg<T>::matrix(int level) {
  return at(level).matrix;
}

template <class T>
DistributedMatrix<T>& Amg<T>::interpolation(int level) {
  return at(level).interpolation;
}

template <class T>
Chebyshev<T>& Amg<T>::smoother(int level) {
  return *at(level).smoother;
}

template <class T>
LinearOperator<T>* Amg<T>::finest_matrix() {
  if (!levels_.empty()) return &matrix(0);
  return coarse_smoother_ ? coarse_matrix_.get() : nullptr;
}

template <class T>
std::string Amg<T>::description() const {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%d %s, operator complexity %.2f", levels(),
                levels() == 1 ? "level" : "levels", operator_complexity_);
  std::string result = text.data();
  const std::string rows = std::to_string(coarse_matrix_->row_partition().rows());
  if (ended_ == CoarseningEnd::rows)
    result += ", no further than " + rows + " rows as the next level has hardly fewer";
  if (ended_ == CoarseningEnd::fill) result += ", no further than " + rows + " rows as the next level fills";
  return result;
}

template <class T>
void Amg<T>::reserve(LocalIndex columns) {
  columns = std::min(columns, most_columns_);
  if (columns <= reserved_) return;
  context_.comm.collectively([&] {
    for (const auto& level : levels_) level->make_work_space(context_, columns);
  });
  for (const auto& level : levels_) level->reserve_operators(columns);
  coarse_matrix_->reserve(columns);
  if (coarse_smoother_) coarse_smoother_->reserve(columns);
  reserved_ = columns;
}

template <class T>
void Amg<T>::cycle(int index, ConstBlockView<T> x, BlockView<T> y) {
  reserve(x.cols);
  for (LocalIndex first = 0; first < x.cols; first += reserved_) {
    const LocalIndex count = std::min(reserved_, x.cols - first);
    visit(index, x.columns(first, count), y.columns(first, count));
  }
}

template <class T>
void Amg<T>::visit(int index, ConstBlockView<T> x, BlockView<T> y) {
  if (index + 1 == levels()) {
    if (coarse_smoother_) {
      coarse_smoother_->apply(x, y);
    } else {
      coarse_matrix_->apply(x, y);
    }
    return;
  }
  Level& level = at(index);
  if (level.inverse) return level.inverse->apply(x, y);
  const BlockView<T> r = leading(level.residual, x.cols);
  const BlockView<T> z = leading(level.correction, x.cols);
  const BlockView<T> coarse_x = leading(level.coarse_x, x.cols);
  const BlockView<T> coarse_y = leading(level.coarse_y, x.cols);

  // The last smoothing step must end in y.
  const bool odd = level.smoother->degree() % 2 == 1;
  const BlockView<T> now = odd ? z : y;
  level.smoother->apply(x, now);
  level.matrix.apply_step(now, r, ProductStep<T>::residual(x));
  level.restriction.apply(r, coarse_x);
  correct(index, coarse_x, coarse_y);
  level.interpolation.multiply(coarse_y, now, Accumulate::yes);
  level.smoother->improve(x, now, odd ? y : z);
}

/// By an inverse, which a second cycle would add nothing to; null where cycles or a polynomial approximate it.
template <class T>
DistributedMatrix<T>* Amg<T>::inverse_on(int level) {
  if (level + 1 < levels()) return at(level).inverse.get();
  return coarse_smoother_ ? nullptr : coarse_matrix_.get();
}

/// What the levels below `index` make of x, in one cycle or in two. What is solved or visited twice counts
/// coarse_weight times: no eigenvalue of it times the coarse matrix is above one then, nor is, where cycles are
/// visited once and count once, any of theirs above coarse_weight. Below 2 that keeps both ways positive definite.
template <class T>
void Amg<T>::correct(int index, ConstBlockView<T> x, BlockView<T> y) {
  Level& level = at(index);
  if (DistributedMatrix<T>* const inverse = inverse_on(index + 1)) {
    ProductStep<T> step;
    step.alpha = coarse_weight_;
    inverse->apply_step(x, y, step);
    return;
  }
  visit(index + 1, x, y);
  if (!level.twice || index + 2 == levels()) return;
  const BlockView<T> r = leading(level.coarse_residual, x.cols);
  const BlockView<T> z = leading(level.coarse_correction, x.cols);
  matrix(index + 1).apply_step(y, r, ProductStep<T>::residual(x));
  visit(index + 1, r, z);
  context_.kernels->axpby(coarse_weight_, z, coarse_weight_, y);
}

template class Amg<float>;
template class Amg<double>;

}  // namespace block_eigs
