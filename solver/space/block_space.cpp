#include "solver/space/block_space.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "spmm/error.hpp"

namespace block_eigs {

template <class T>
DenseBlock<T> BlockSpace<T>::make_block(LocalIndex cols) {
  DenseBlock<T> block;
  comm().collectively([&] { block = DenseBlock<T>(context_.device, local_rows(), cols); });
  return block;
}

template <class T>
void BlockSpace<T>::sum(Sums& sums) {
  std::vector<double> all = sums.packed();
  if (comm().size() > 1 && !all.empty()) {
    const Profile::Scope scope(profile(), Phase::communication);
    replicas_.append_to(all);
    all.push_back(context_.stop->vote());
    comm().sum(std::span(all));
    context_.stop->count(all.back());
    all.pop_back();
    replicas_.check(comm(), all);
  }
  if (comm().size() == 1) context_.stop->count(context_.stop->vote());
  sums.unpack(all);
}

template <class T>
bool BlockSpace<T>::asks_to_end_early() {
  context_.stop->count(comm().sum(context_.stop->vote()));
  return to_end_early();
}

template <class T>
void BlockSpace<T>::gram(const ConstBlockList<T>& left, const ConstBlockList<T>& right, SmallMatrix& result) {
  Sums sums;
  gram(left, right, result, sums);
  sum(sums);
}

template <class T>
void BlockSpace<T>::gram(const ConstBlockList<T>& left, const ConstBlockList<T>& right, SmallMatrix& result,
                         Sums& sums) {
  if (left.cols() == 0 || right.cols() == 0) return result.resize(left.cols(), right.cols());
  const Profile::Scope scope(profile(), Phase::block_algebra);
  kernels().gram(left, right, result);
  sums.add(result.values());
}

template <class T>
void BlockSpace<T>::update(const ConstBlockList<T>& in, const SmallMatrix& coefficients, const BlockList<T>& out) {
  if (out.cols() == 0) return;
  const Profile::Scope scope(profile(), Phase::block_algebra);
  kernels().update(in, coefficients, out);
}

template <class T>
void BlockSpace<T>::update_gram(const ConstBlockList<T>& in, const SmallMatrix& coefficients,
                                const BlockList<T>& out, const RowScaling<T>& scaling,
                                const ConstBlockList<T>& left, const ConstBlockList<T>& right, SmallMatrix& result,
                                Sums& sums) {
  if (out.cols() == 0 || left.cols() == 0 || right.cols() == 0) {
    update(in, coefficients, out);
    return result.resize(left.cols(), right.cols());
  }
  const Profile::Scope scope(profile(), Phase::block_algebra);
  kernels().update_gram(in, coefficients, out, scaling, left, right, result);
  sums.add(result.values());
}

template <class T>
void BlockSpace<T>::apply_gram(LinearOperator<T>& a, ConstBlockView<T> x, BlockView<T> y, SmallMatrix& products,
                               Sums& sums) {
  products.resize(x.cols, y.cols);
  if (x.cols > 0 && a.apply_products(x, y, products)) return sums.add(products.values());
  a.apply(x, y);
  gram({x}, {y}, products, sums);
}

template <class T>
std::vector<double> BlockSpace<T>::residual(ConstBlockView<T> ax, ConstBlockView<T> bx,
                                            std::span<const double> lambda, BlockView<T> r) {
  std::vector<double> norms;
  Sums sums;
  residual(ax, bx, lambda, r, norms, sums);
  sum(sums);
  return norms;
}

template <class T>
void BlockSpace<T>::residual(ConstBlockView<T> ax, ConstBlockView<T> bx, std::span<const double> lambda,
                             BlockView<T> r, std::vector<double>& norms, Sums& sums) {
  norms.assign(static_cast<std::size_t>(r.cols), 0.0);
  if (r.cols == 0) return;
  const Profile::Scope scope(profile(), Phase::block_algebra);
  kernels().residual(ax, bx, lambda, r, norms);
  sums.add_squares(norms);
}

template <class T>
void BlockSpace<T>::update_residual(const ConstBlockList<T>& in, const SmallMatrix& coefficients,
                                    const BlockList<T>& out, ConstBlockView<T> bx, std::span<const double> lambda,
                                    BlockView<T> r, std::vector<double>& norms, Sums& sums) {
  norms.assign(static_cast<std::size_t>(r.cols), 0.0);
  if (out.cols() == 0) return;
  const Profile::Scope scope(profile(), Phase::block_algebra);
  kernels().update_residual(in, coefficients, out, bx, lambda, r, norms);
  sums.add_squares(norms);
}

template <class T>
void BlockSpace<T>::residual_by_product(LinearOperator<T>& a, ConstBlockView<T> x, std::span<const double> lambda,
                                        BlockView<T> ax, BlockView<T> r) {
  std::vector<double> factors;
  for (const double value : lambda) factors.push_back(-value);
  ProductStep<T> step;
  step.betas = factors;
  apply_step(a, x, step, ax, r);
}

template <class T>
std::vector<double> BlockSpace<T>::column_dots(ConstBlockView<T> x, ConstBlockView<T> y) {
  std::vector<double> dots;
  Sums sums;
  column_dots(x, y, dots, sums);
  sum(sums);
  return dots;
}

template <class T>
void BlockSpace<T>::column_dots(ConstBlockView<T> x, ConstBlockView<T> y, std::vector<double>& dots, Sums& sums) {
  dots.assign(static_cast<std::size_t>(x.cols), 0.0);
  if (x.cols == 0) return;
  const Profile::Scope scope(profile(), Phase::block_algebra);
  kernels().column_dots(x, y, dots);
  sums.add(dots);
}

template <class T>
std::vector<double> BlockSpace<T>::column_norms(ConstBlockView<T> x) {
  std::vector<double> norms;
  Sums sums;
  column_norms(x, norms, sums);
  sum(sums);
  return norms;
}

template <class T>
void BlockSpace<T>::column_norms(ConstBlockView<T> x, std::vector<double>& norms, Sums& sums) {
  norms.assign(static_cast<std::size_t>(x.cols), 0.0);
  if (x.cols == 0) return;
  const Profile::Scope scope(profile(), Phase::block_algebra);
  kernels().column_dots(x, x, norms);
  sums.add_squares(norms);
}

template <class T>
void BlockSpace<T>::copy(ConstBlockView<T> x, BlockView<T> y) {
  if (x.cols == 0) return;
  const Profile::Scope scope(profile(), Phase::block_algebra);
  kernels().copy(x, y);
}

template <class T>
void BlockSpace<T>::copy_columns(ConstBlockView<T> x, std::span<const int> columns, BlockView<T> y) {
  // A copy of few columns moves whole cache lines: neighbours together, and on the host all of some rows before
  // the next ones.
  constexpr LocalIndex rows_in_cache = 1024;
  const LocalIndex height = context_.device->host_addressable() ? rows_in_cache : x.rows;
  for (LocalIndex row = 0; row < x.rows; row += height) {
    const LocalIndex rows = std::min(height, x.rows - row);
    for (auto at = columns.begin(); at != columns.end();) {
      auto next = at + 1;
      while (next != columns.end() && *next == *at + (next - at)) ++next;
      const auto count = static_cast<LocalIndex>(next - at);
      copy(x.row_range(row, rows).columns(*at, count),
           y.row_range(row, rows).columns(static_cast<LocalIndex>(at - columns.begin()), count));
      at = next;
    }
  }
}

template <class T>
void BlockSpace<T>::permute_columns(BlockView<T> x, std::span<const std::size_t> order) {
  SmallMatrix permutation(x.cols, x.cols);
  for (std::size_t j = 0; j < order.size(); ++j)
    permutation(static_cast<int>(order[j]), static_cast<int>(j)) = 1.0;
  update({x}, permutation, {x});
}

template <class T>
void BlockSpace<T>::apply_step(LinearOperator<T>& a, ConstBlockView<T> x, const ProductStep<T>& step,
                               BlockView<T> ax, BlockView<T> y) {
  if (a.apply_step(x, y, step)) return;
  a.apply(x, ax);
  const Profile::Scope scope(profile(), Phase::block_algebra);
  kernels().combine(step, ax, x, y);
}

template <class T>
void BlockSpace<T>::leave_out(std::vector<LocalIndex> rows) {
  left_out_ = std::move(rows);
  left_out_of_all_ = comm().sum(static_cast<std::int64_t>(left_out_.size()));
  inside_.reset();
  if (left_out_of_all_ == 0) return;
  comm().collectively([&] {
    std::vector<T> inside(static_cast<std::size_t>(local_rows()), T{1});
    for (const LocalIndex row : left_out_) inside[static_cast<std::size_t>(row)] = T{0};
    Buffer<T> buffer(context_.device, inside.size());
    buffer.upload(inside.data());
    inside_ = std::make_shared<const Buffer<T>>(std::move(buffer));
  });
}

template <class T>
void BlockSpace<T>::clear_left_out(BlockView<T> x) {
  if (inside_ == nullptr || left_out_.empty() || x.cols == 0) return;
  const Profile::Scope scope(profile(), Phase::block_algebra);
  kernels().scale_rows(inside_->data(), x, x);
}

template <class T>
void BlockSpace<T>::fill_random(BlockView<T> y, std::uint64_t seed) {
  kernels().fill_random(y, seed, first_row());
  clear_left_out(y);
}

template <class T>
void BlockSpace<T>::on_root(const std::function<void()>& step, std::initializer_list<SmallMatrix*> results) {
  const Profile::Scope scope(profile(), Phase::small_dense);
  comm().collectively([&] {
    if (comm().is_root()) step();
  });
  if (comm().size() == 1) return;
  std::vector<double> shapes, values;
  for (const SmallMatrix* matrix : results) {
    shapes.push_back(matrix->rows());
    shapes.push_back(matrix->cols());
  }
  comm().broadcast(shapes);
  const double* shape = shapes.data();
  for (SmallMatrix* matrix : results) {
    if (!comm().is_root()) matrix->resize(static_cast<int>(shape[0]), static_cast<int>(shape[1]));
    values.insert(values.end(), matrix->values().begin(), matrix->values().end());
    shape += 2;
  }
  comm().broadcast(values);
  const double* value = values.data();
  for (SmallMatrix* matrix : results) {
    std::copy_n(value, matrix->values().size(), matrix->data());
    value += matrix->values().size();
  }
}

template <class T>
bool BlockSpace<T>::replicates() {
  if (!replicates_) replicates_ = Replicas::possible(comm());
  return *replicates_;
}

template <class T>
void BlockSpace<T>::solve_small(const std::function<void()>& step, std::initializer_list<SmallMatrix*> results) {
  if (comm().size() == 1 || !replicates()) return on_root(step, results);
  const Profile::Scope scope(profile(), Phase::small_dense);
  agreeing(step);
  for (const SmallMatrix* matrix : results) replicas_.add(matrix->values());
}

BlockSpace<float> in_float(const BlockSpace<double>& space) {
  BlockSpace<float> result(with_precision<float>(space.context()), space.partition());
  result.leave_out(space.left_out());
  return result;
}

template class BlockSpace<float>;
template class BlockSpace<double>;

}  // namespace block_eigs
