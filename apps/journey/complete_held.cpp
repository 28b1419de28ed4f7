#include "apps/journey/complete_held.hpp"

#include <algorithm>
#include <cmath>

#include "solver/space/block_space.hpp"

namespace block_eigs {

namespace {

constexpr LocalIndex panel = 16;

/// A V - B V Lambda of some columns, V being zero in the rows that are held.
template <class T>
std::vector<double> residuals(Problem<double>& exact, BlockSpace<double>& space, ConstBlockView<T> vectors,
                              std::span<const double> eigenvalues) {
  DenseBlock<double> v = space.make_block(vectors.cols);
  DenseBlock<double> r = space.make_block(vectors.cols);
  DenseBlock<double> bv = space.make_block(exact.b ? vectors.cols : 0);
  make_kernels<T>(exact.context.device)->convert(vectors, {}, v.view());
  exact.a->apply(v.view(), r.view());
  if (exact.b) exact.b->apply(v.view(), bv.view());
  space.residual(r.view(), exact.b ? bv.view() : v.view(), eigenvalues, r.view());
  return r.to_host();
}

}  // namespace

template <class T>
void complete_held_rows(Problem<double>& exact, const HeldRows& held, const std::vector<double>& eigenvalues,
                        DenseBlock<T>& vectors) {
  if (!held.any()) return;
  BlockSpace<double> space(exact.context, exact.partition);
  std::vector<T> entries = vectors.to_host();
  const auto width = static_cast<std::size_t>(vectors.cols());
  for (LocalIndex first = 0; first < vectors.cols(); first += panel) {
    const LocalIndex count = std::min(panel, vectors.cols() - first);
    const auto values =
        std::span(eigenvalues).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    const std::vector<double> r = residuals<T>(exact, space, vectors.columns(first, count), values);
    for (std::size_t k = 0; k < held.own.size(); ++k) {
      const auto row = static_cast<std::size_t>(held.own[k]);
      for (LocalIndex j = 0; j < count; ++j) {
        T& entry = entries[row * width + static_cast<std::size_t>(first + j)];
        // Not of a vector of that row alone, whose residual is another matter.
        if (entry == T{0})
          entry = static_cast<T>(-r[row * static_cast<std::size_t>(count) + static_cast<std::size_t>(j)] /
                                 held.diagonal[k]);
      }
    }
  }
  vectors.from_host(entries.data());
}

template void complete_held_rows(Problem<double>&, const HeldRows&, const std::vector<double>&,
                                 DenseBlock<float>&);
template void complete_held_rows(Problem<double>&, const HeldRows&, const std::vector<double>&,
                                 DenseBlock<double>&);

}  // namespace block_eigs
