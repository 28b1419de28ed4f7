#include "solver/multigrid/amg.hpp"

#include <string>
#include <utility>

#include "solver/multigrid/amg_level.hpp"
#include "solver/multigrid/coarse_inverse.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Of the polynomial that stands for the solution on a coarsest level that is large.
constexpr ChebyshevOptions long_polynomial{8, 0.0};

void check(const GridHierarchy& hierarchy) {
  require(!hierarchy.empty(), "amg: there are no levels");
  for (std::size_t level = 0; level + 1 < hierarchy.size(); ++level) {
    require(hierarchy[level].interpolation.global_columns == hierarchy[level + 1].partition.rows(),
            "amg: the interpolation of level " + std::to_string(level) + " does not lead to the next one");
  }
}

}  // namespace

template <class T>
Amg<T>::Amg(const Context<T>& context, GridHierarchy hierarchy, const AmgOptions& options) : context_(context) {
  const Communicator& comm = context.comm;
  comm.collectively([&] { check(hierarchy); });
  double entries = 0.0;
  for (const GridLevel& level : hierarchy) entries += static_cast<double>(level.matrix.nonzeros());
  operator_complexity_ = comm.sum(entries) / comm.sum(static_cast<double>(hierarchy.front().matrix.nonzeros()));
  for (std::size_t level = 0; level + 1 < hierarchy.size(); ++level) {
    levels_.push_back(
        std::make_unique<Level>(context, std::move(hierarchy[level]), hierarchy[level + 1].partition, options));
  }
  make_coarsest(std::move(hierarchy.back()), options);
}

template <class T>
void Amg<T>::make_coarsest(GridLevel level, const AmgOptions& options) {
  const bool dense = level.partition.rows() <= options.largest_dense;
  // What is left of a singular matrix after rounding errors on the way down must not be inverted.
  const double noise = levels_.empty() ? 0.0 : 1e-14 * levels_.front()->matrix.norm_inf();
  CsrRows rows =
      dense ? pseudo_inverse(context_.comm, level.partition, level.matrix, noise) : std::move(level.matrix);
  coarse_matrix_ =
      std::make_unique<DistributedMatrix<T>>(context_, std::move(rows), level.partition, level.partition);
  if (dense) return;
  coarse_smoother_ = std::make_unique<Chebyshev<T>>(context_, *coarse_matrix_, coarse_matrix_->diagonal(),
                                                    coarse_matrix_->scaled_gershgorin_bound(), long_polynomial);
}

template <class T>
Amg<T>::~Amg() = default;

template <class T>
LinearOperator<T>* Amg<T>::finest_matrix() {
  return levels_.empty() ? nullptr : &levels_.front()->matrix;
}

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
  std::size_t sum = coarse_matrix_->work_bytes(cols) + (coarse_smoother_ ? coarse_smoother_->work_bytes(cols) : 0);
  for (const auto& level : levels_) {
    const bool twice = level->twice && level != levels_.back();
    sum += level->work_bytes(cols) + (twice ? 4 : 2) * DenseBlock<T>::bytes(level->interpolation.columns(), cols);
  }
  return sum;
}

template <class T>
void Amg<T>::apply(ConstBlockView<T> x, BlockView<T> y) {
  cycle(0, x, y);
}

template <class T>
void Amg<T>::cycle(std::size_t index, ConstBlockView<T> x, BlockView<T> y) {
  if (index == levels_.size()) {
    if (coarse_smoother_) {
      coarse_smoother_->apply(x, y);
    } else {
      coarse_matrix_->apply(x, y);
    }
    return;
  }
  Level& level = *levels_[index];
  const LocalIndex coarse_rows = level.interpolation.columns();
  const BlockView<T> r = view_of(level.residual, context_, x.rows, x.cols);
  const BlockView<T> z = view_of(level.correction, context_, x.rows, x.cols);
  const BlockView<T> coarse_x = view_of(level.coarse_x, context_, coarse_rows, x.cols);
  const BlockView<T> coarse_y = view_of(level.coarse_y, context_, coarse_rows, x.cols);

  // The last smoothing step must end in y.
  const bool odd = level.smoother.degree() % 2 == 1;
  const BlockView<T> now = odd ? z : y;
  level.smoother.apply(x, now);
  level.matrix.apply_step(now, r, ProductStep<T>::residual(x));
  level.restriction.apply(r, coarse_x);
  correct(index, coarse_x, coarse_y);
  level.interpolation.multiply(coarse_y, now, Accumulate::yes);
  level.smoother.improve(x, now, odd ? y : z);
}

/// What the levels below `index` make of x, in one cycle or in two.
template <class T>
void Amg<T>::correct(std::size_t index, ConstBlockView<T> x, BlockView<T> y) {
  Level& level = *levels_[index];
  cycle(index + 1, x, y);
  if (!level.twice || index + 1 == levels_.size()) return;
  const BlockView<T> r = view_of(level.coarse_residual, context_, x.rows, x.cols);
  const BlockView<T> z = view_of(level.coarse_correction, context_, x.rows, x.cols);
  levels_[index + 1]->matrix.apply_step(y, r, ProductStep<T>::residual(x));
  cycle(index + 1, r, z);
  context_.kernels->axpby(1.0, z, 1.0, y);
}

template class Amg<float>;
template class Amg<double>;

}  // namespace block_eigs
