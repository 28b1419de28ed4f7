#include "solver/proof/shifted_operator.hpp"

namespace block_eigs {

template <class T>
ShiftedOperator<T>::ShiftedOperator(BlockSpace<T>& space, const ProbeOperators<T>& operators,
                                    Deflation<T>& deflation, Which which, double sigma, LocalIndex columns)
    : space_(space),
      operators_(operators),
      deflation_(deflation),
      sign_(which == Which::smallest ? 1.0 : -1.0),
      sigma_(sigma),
      ax_(space.make_block(columns)),
      sx_(space.make_block(plain() ? 0 : columns)),
      tx_(space.make_block(plain() ? 0 : columns)) {
  operators.a.reserve(columns);
  if (operators.b != nullptr) operators.b->reserve(columns);
  if (operators.preconditioner != nullptr) operators.preconditioner->reserve(columns);
}

template <class T>
void ShiftedOperator<T>::shifted(ConstBlockView<T> x, BlockView<T> s) {
  products_ += x.cols;
  if (operators_.b == nullptr) {
    ProductStep<T> step;
    step.alpha = sign_;
    step.beta = -sign_ * sigma_;
    space_.apply_step(operators_.a, x, step, ax_.columns(0, x.cols), s);
    return;
  }
  operators_.b->apply(x, s);
  operators_.a.apply(x, ax_.columns(0, x.cols));
  space_.kernels().axpby(sign_, ax_.columns(0, x.cols), -sign_ * sigma_, s);
}

template <class T>
void ShiftedOperator<T>::preconditioned(ConstBlockView<T> s, BlockView<T> t) {
  if (operators_.preconditioner != nullptr) {
    const Profile::Scope scope(space_.profile(), Phase::preconditioner);
    operators_.preconditioner->apply(s, t);
    space_.clear_left_out(t);
  } else {
    space_.copy(s, t);
  }
  deflation_.remove_from(t);
}

template <class T>
void ShiftedOperator<T>::step(double alpha, double beta, double gamma, BlockView<T> x, BlockView<T> y) {
  ProductStep<T> step;
  step.beta = beta;
  step.gamma = gamma;
  if (plain()) {
    step.alpha = sign_ * alpha;
    step.beta -= sign_ * alpha * sigma_;
    space_.apply_step(operators_.a, x, step, ax_.columns(0, x.cols), y);
    products_ += x.cols;
    return;
  }
  const BlockView<T> tx = tx_.columns(0, x.cols);
  shifted(x, sx_.columns(0, x.cols));
  preconditioned(sx_.columns(0, x.cols), tx);
  step.alpha = alpha;
  space_.kernels().combine(step, tx, x, y);
}

template class ShiftedOperator<float>;
template class ShiftedOperator<double>;

}  // namespace block_eigs
