#include "solver/lobpcg/finished_pairs.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "solver/lobpcg/product_sizes.hpp"
#include "solver/lobpcg/residual_test.hpp"
#include "solver/lobpcg/ritz_pairs.hpp"
#include "solver/space/orthonormalize.hpp"

namespace block_eigs {

namespace {

/// Columns multiplied at a time.
constexpr LocalIndex panel = 32;

/// Residuals and what they are held against, of some columns.
template <class T>
RitzPairs measure(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* b, const ResidualTest& test,
                  ProductSizes<T>& sizes, BlockView<T> x, std::span<const double> values, BlockView<T> ax,
                  BlockView<T> bx, BlockView<T> r) {
  a.apply(x, ax);
  if (b != nullptr) b->apply(x, bx);
  const ConstBlockView<T> image = b != nullptr ? bx : x;
  RitzPairs pairs;
  pairs.values.assign(values.begin(), values.end());
  pairs.norms = space.column_norms(x);
  pairs.image_norms = space.column_norms(image);
  pairs.residuals = space.residual(ax, image, values, r);
  pairs.moves.assign(values.size(), 0.0);
  sizes.measure(test, x, ax, pairs);
  return pairs;
}

}  // namespace

template <class T>
std::optional<EigenResult<T>> finished_pairs(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* b,
                                             const LobpcgOptions& options, const DenseBlock<T>& vectors,
                                             std::span<const double> values) {
  const LocalIndex pairs = options.pairs;
  if (vectors.cols() < pairs) return std::nullopt;
  EigenResult<T> result;
  result.eigenvectors = space.make_block(pairs);
  const BlockView<T> all = result.eigenvectors.view();
  space.copy(vectors.columns(0, pairs), all);
  {
    DenseBlock<T> images = space.make_block(b != nullptr ? pairs : 0);
    const BlockView<T> image = b != nullptr ? images.view() : all;
    if (b != nullptr) {
      b->reserve(pairs);
      b->apply(all, image);
    }
    if (orthonormalize<T>(space, {}, all, image, {}, Orthonormality::to_rounding, b) < pairs) return std::nullopt;
  }
  const LocalIndex width = std::min(panel, pairs);
  DenseBlock<T> ax = space.make_block(width);
  DenseBlock<T> bx = space.make_block(b != nullptr ? width : 0);
  DenseBlock<T> r = space.make_block(width);
  a.reserve(width);
  ProductSizes<T> sizes(space, a, b);
  const ResidualTest test(
      options, {a.norm_scale(), b != nullptr ? b->norm_scale() : 1.0, a.typical_row_sum(), b != nullptr},
      std::numeric_limits<T>::epsilon());
  for (LocalIndex first = 0; first < pairs; first += width) {
    const LocalIndex count = std::min(width, pairs - first);
    const RitzPairs part = measure(
        space, a, b, test, sizes, all.columns(first, count),
        values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)), ax.columns(0, count),
        b != nullptr ? bx.columns(0, count) : ax.columns(0, count), r.columns(0, count));
    for (int j = 0; j < part.count(); ++j) {
      result.outcomes.push_back(part.judge(test, j));
      if (result.outcomes.back() == Outcome::not_converged) return std::nullopt;
    }
    result.residual_norms.insert(result.residual_norms.end(), part.residuals.begin(), part.residuals.end());
  }
  result.eigenvalues.assign(values.begin(), values.begin() + pairs);
  result.error_bounds =
      b == nullptr ? result.residual_norms
                   : std::vector<double>(result.eigenvalues.size(), std::numeric_limits<double>::quiet_NaN());
  return result;
}

template std::optional<EigenResult<float>> finished_pairs(BlockSpace<float>&, LinearOperator<float>&,
                                                          LinearOperator<float>*, const LobpcgOptions&,
                                                          const DenseBlock<float>&, std::span<const double>);
template std::optional<EigenResult<double>> finished_pairs(BlockSpace<double>&, LinearOperator<double>&,
                                                           LinearOperator<double>*, const LobpcgOptions&,
                                                           const DenseBlock<double>&, std::span<const double>);

}  // namespace block_eigs
