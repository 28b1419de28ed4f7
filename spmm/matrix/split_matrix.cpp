#include "spmm/matrix/split_matrix.hpp"

#include <utility>

namespace block_eigs {

template <class T>
SplitMatrix<T>::SplitMatrix(const Context<T>& context, CsrArrays<T> own, CsrArrays<T> boundary, HaloPlan plan,
                            const SpmmOptions& options)
    : context_(context),
      own_(context, std::move(own), options),
      boundary_(context, std::move(boundary), options),
      halo_(make_halo_exchange(context, std::move(plan))) {}

template <class T>
SplitMatrix<T>::SplitMatrix(const Context<T>& context, CsrMatrix<T> own, CsrMatrix<T> boundary, HaloPlan plan)
    : context_(context),
      own_(std::move(own)),
      boundary_(std::move(boundary)),
      halo_(make_halo_exchange(context, std::move(plan))) {}

template <class T>
void SplitMatrix<T>::multiply(ConstBlockView<T> x, BlockView<T> y, const ProductStep<T>& step) {
  if (context_.comm.size() == 1) {
    if (own_.rows() > 0) own_.multiply(x, y, step);
    return;
  }
  ConstBlockView<T> ghosts;
  try {
    halo_->begin(x);
    if (own_.rows() > 0) own_.multiply(x, y, step, [this] { halo_->progress(); });
    ghosts = halo_->finish();
  } catch (...) {
    halo_->give_up();  // now: another matrix may exchange next
    throw;
  }
  ProductStep<T> rest;
  rest.alpha = step.alpha;
  rest.scale = step.scale;
  rest.gamma = 1.0;
  rest.products = step.products;
  rest.left = step.left;
  if (boundary_.rows() > 0) boundary_.multiply(ghosts, y, rest);
}

template <class T>
void SplitMatrix<T>::reserve(LocalIndex columns) {
  if (context_.comm.size() > 1) halo_->reserve(columns);
  context_.comm.collectively([&] {
    own_.reserve(columns);
    boundary_.reserve(columns);
  });
}

template class SplitMatrix<float>;
template class SplitMatrix<double>;

}  // namespace block_eigs
