#include "apps/journey/complete_held.hpp"

#include <algorithm>
#include <memory>
#include <span>

#include "solver/space/block_space.hpp"

namespace block_eigs {

namespace {

constexpr LocalIndex panel = 16;

/// A V - B V Lambda.
template <class T>
DenseBlock<double> residuals(Problem<double>& exact, BlockSpace<double>& space, ConstBlockView<T> vectors,
                             std::span<const double> eigenvalues) {
  DenseBlock<double> v = space.make_block(vectors.cols);
  DenseBlock<double> r = space.make_block(vectors.cols);
  DenseBlock<double> bv = space.make_block(exact.b ? vectors.cols : 0);
  make_kernels<T>(exact.context.device)->convert(vectors, {}, v.view());
  exact.a->apply(v.view(), r.view());
  if (exact.b) exact.b->apply(v.view(), bv.view());
  space.residual(r.view(), exact.b ? bv.view() : v.view(), eigenvalues, r.view());
  return r;
}

/// The entries of V that leave nothing of R in these rows; V has zeros there.
template <class T>
void complete(const HeldRows& held, std::span<const double> eigenvalues, const DenseBlock<double>& r,
              DenseBlock<T>& v) {
  const std::vector<double> residual = r.to_host();
  std::vector<T> entries = v.to_host();
  const std::size_t width = eigenvalues.size();
  for (std::size_t k = 0; k < held.own.size(); ++k) {
    for (std::size_t j = 0; j < width; ++j) {
      // The eigenvectors of these rows themselves, where so many are asked for, have their values.
      if (eigenvalues[j] >= 0.5 * held.values[k]) continue;
      const std::size_t at = static_cast<std::size_t>(held.own[k]) * width + j;
      entries[at] = static_cast<T>(-residual[at] / held.penalties[k]);
    }
  }
  v.from_host(entries.data());
}

}  // namespace

template <class T>
void complete_held_rows(Problem<double>& exact, const HeldRows& held, const std::vector<double>& eigenvalues,
                        DenseBlock<T>& vectors) {
  if (!held.any()) return;
  BlockSpace<double> space(exact.context, exact.partition);
  const std::shared_ptr<Kernels<T>> kernels = make_kernels<T>(exact.context.device);
  exact.a->reserve(std::min(panel, vectors.cols()));
  if (exact.b) exact.b->reserve(std::min(panel, vectors.cols()));
  for (LocalIndex first = 0; first < vectors.cols(); first += panel) {
    const LocalIndex count = std::min(panel, vectors.cols() - first);
    const BlockView<T> part = vectors.columns(first, count);
    const auto values =
        std::span(eigenvalues).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    const DenseBlock<double> r = residuals<T>(exact, space, part, values);
    exact.context.comm.collectively([&] {
      if (held.own.empty()) return;
      DenseBlock<T> v(exact.context.device, part.rows, count);
      kernels->copy(part, v.view());
      complete(held, values, r, v);
      kernels->copy(v.view(), part);
    });
  }
}

template void complete_held_rows(Problem<double>&, const HeldRows&, const std::vector<double>&,
                                 DenseBlock<float>&);
template void complete_held_rows(Problem<double>&, const HeldRows&, const std::vector<double>&,
                                 DenseBlock<double>&);

}  // namespace block_eigs
