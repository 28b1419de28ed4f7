#include "solver/preconditioner/chebyshev.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "solver/preconditioner/jacobi.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Side by side whatever the width, so that narrow blocks do not stride over the room of wide ones.
template <class T>
BlockView<T> work_view(DenseBlock<T>& storage, ConstBlockView<T> like) {
  return {storage.view().data, like.rows, like.cols, DenseBlock<T>::padded(like.cols)};
}

}  // namespace

template <class T>
Chebyshev<T>::Chebyshev(const Context<T>& context, LinearOperator<T>& a, std::span<const double> diagonal,
                        double upper_bound, const ChebyshevOptions& options, bool constant_diagonal)
    : Chebyshev(context, a, inverse_on_device(context, diagonal),
                // Not of T, so that a float polynomial has the same coefficients.
                constant_diagonal && !diagonal.empty() ? inverse_diagonal<double>(diagonal.first(1)).front() : 0.0,
                upper_bound, options) {}

template <class T>
Chebyshev<T>::Chebyshev(const Context<T>& context, LinearOperator<T>& a, Buffer<T> inverse_diagonal,
                        double constant_inverse, double upper_bound, const ChebyshevOptions& options)
    : context_(context),
      a_(a),
      inverse_(std::move(inverse_diagonal)),
      constant_inverse_(constant_inverse),
      degree_(options.degree) {
  require(options.degree >= 1, "chebyshev.degree must be at least 1, not " + std::to_string(options.degree));
  require(options.ratio == 0.0 || options.ratio > 1.0,
          "chebyshev.ratio must be greater than 1 (or 0 to have it chosen)");
  // With the lower end near upper / degree^2 the polynomial still has its factor-of-a-few reduction on the whole
  // interval, and below it falls off smoothly.
  const double ratio = options.ratio > 0.0 ? options.ratio : std::max(4.0, 1.0 * degree_ * degree_);
  const double lower = upper_bound / ratio;
  center_ = 0.5 * (upper_bound + lower);
  half_width_ = 0.5 * (upper_bound - lower);
}

template <class T>
void Chebyshev<T>::reserve(LocalIndex columns) {
  if (columns <= reserved_) return;
  a_.reserve(columns);
  make_work_space(columns);
  reserved_ = columns;
}

/// Collective.
template <class T>
void Chebyshev<T>::make_work_space(LocalIndex columns) {
  // A rank without rows does not know of a constant diagonal. It may make another block than the others, but it
  // comes here as often as they do.
  const int without_other = constant_inverse_ > 0.0 ? 2 : 1;
  context_.comm.collectively([&] {
    if (degree_ > without_other && other_.cols() < columns)
      other_ = DenseBlock<T>(context_.device, rows(), columns);
    if (needs_product_ && product_.cols() < columns) product_ = DenseBlock<T>(context_.device, rows(), columns);
  });
}

template <class T>
void Chebyshev<T>::apply(ConstBlockView<T> x, BlockView<T> y) {
  reserve(x.cols);
  if (constant_inverse_ > 0.0 && degree_ > 1) {
    apply_with_constant_diagonal(x, y);
    return;
  }
  const BlockView<T> other = work_view(other_, x);
  BlockView<T> now = degree_ % 2 == 1 ? y : other;  // so that the last one is y
  BlockView<T> before = degree_ % 2 == 1 ? other : y;
  ProductStep<T> step = step_towards(x);
  step.alpha = 0.0;
  step.beta = 0.0;
  context_.kernels->combine(step, {}, {}, now);
  iterate(step_towards(x), now, before, degree_ - 1, true);
}

template <class T>
std::size_t Chebyshev<T>::work_bytes(LocalIndex cols) const {
  const bool in_place = constant_inverse_ > 0.0 && degree_ == 2;
  return in_place ? 0 : DenseBlock<T>::bytes(rows(), cols);
}

template <class T>
void Chebyshev<T>::improve(ConstBlockView<T> r, BlockView<T> y, BlockView<T> scratch) {
  reserve(y.cols);
  ProductStep<T> step = step_towards(r);
  take_step(step, y, scratch);
  iterate(step, scratch, y, degree_ - 1, false);
}

template <class T>
void Chebyshev<T>::smooth(BlockView<T> y, BlockView<T> scratch) {
  improve({}, y, scratch);
}

/// z + D^-1 (r - A z) / center: the step with which the recurrence begins. Without data r is zero.
template <class T>
ProductStep<T> Chebyshev<T>::step_towards(ConstBlockView<T> r) const {
  ProductStep<T> step;
  step.alpha = -1.0 / center_;
  step.right_hand_side = r.data != nullptr ? 1.0 / center_ : 0.0;
  step.beta = 1.0;
  step.scale = inverse_.data();
  step.r = r;
  return step;
}

/// The factors of the next step of the recurrence; `rho` is 1 / sigma at first.
template <class T>
void Chebyshev<T>::advance(ProductStep<T>& step, double& rho) const {
  const double next = 1.0 / (2.0 * center_ / half_width_ - rho);
  step.alpha = -2.0 * next / half_width_;
  step.right_hand_side = step.r.data != nullptr ? 2.0 * next / half_width_ : 0.0;
  step.beta = 1.0 + next * rho;
  step.gamma = -next * rho;
  rho = next;
}

/// `now` and `before` change places `count` times; `before` counts as zero at first where `from_zero`.
template <class T>
void Chebyshev<T>::iterate(ProductStep<T> step, BlockView<T> now, BlockView<T> before, int count, bool from_zero) {
  double rho = half_width_ / center_;
  for (int k = 0; k < count; ++k) {
    advance(step, rho);
    if (from_zero && k == 0) step.gamma = 0.0;
    take_step(step, now, before);
    std::swap(now, before);
  }
}

/// The first iterate is a multiple of x then and need not be formed: the second step multiplies x itself, the
/// third one takes its share of the first iterate from the right-hand side.
template <class T>
void Chebyshev<T>::apply_with_constant_diagonal(ConstBlockView<T> x, BlockView<T> y) {
  BlockView<T> now = y;
  BlockView<T> before = degree_ > 2 ? work_view(other_, x) : y;
  if (degree_ % 2 == 1) std::swap(now, before);  // so that the last one is y
  ProductStep<T> step = step_towards(x);
  const double multiple = step.right_hand_side * constant_inverse_;
  double rho = half_width_ / center_;
  advance(step, rho);
  ProductStep<T> special = step;
  special.alpha = multiple * step.alpha;
  special.beta = multiple * step.beta + constant_inverse_ * step.right_hand_side;
  special.right_hand_side = 0.0;
  special.gamma = 0.0;
  take_step(special, x, now);
  for (int k = 2; k < degree_; ++k) {
    advance(step, rho);
    special = step;
    if (k == 2) {
      special.right_hand_side += step.gamma * multiple / constant_inverse_;
      special.gamma = 0.0;
    }
    take_step(special, now, before);
    std::swap(now, before);
  }
}

template <class T>
void Chebyshev<T>::take_step(const ProductStep<T>& step, ConstBlockView<T> x, BlockView<T> y) {
  if (a_.apply_step(x, y, step)) return;
  if (!needs_product_) {
    needs_product_ = true;  // on all ranks: what an operator can do does not depend on the rank
    make_work_space(reserved_);
  }
  const BlockView<T> ax = work_view(product_, x);
  a_.apply(x, ax);
  context_.kernels->combine(step, ax, x, y);
}

template class Chebyshev<float>;
template class Chebyshev<double>;

}  // namespace block_eigs
