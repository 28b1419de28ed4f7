#include "solver/lobpcg/finished_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
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

/// Pairs from the smallest magnitude on, where magnitudes differ so much that it matters; nothing else.
std::vector<std::size_t> by_magnitude(std::span<const double> values) {
  constexpr double much = 1e3;
  const auto less = [](double one, double other) { return std::abs(one) < std::abs(other); };
  const auto [least, largest] = std::minmax_element(values.begin(), values.end(), less);
  if (!(std::abs(*largest) > much * std::abs(*least))) return {};
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return less(values[i], values[j]); });
  return order;
}

/// The order that takes back what `order` does.
std::vector<std::size_t> inverse(const std::vector<std::size_t>& order) {
  std::vector<std::size_t> result(order.size());
  for (std::size_t j = 0; j < order.size(); ++j) result[order[j]] = j;
  return result;
}

/// Constraints made orthonormal, and their images under B, which without B are the same.
template <class T>
class Outside {
 public:
  Outside(BlockSpace<T>& space, LinearOperator<T>* b, const DenseBlock<T>* constraints)
      : is_apart_(b != nullptr),
        count_(constraints != nullptr ? constraints->cols() : 0),
        vectors_(space.make_block(count_)),
        images_(space.make_block(is_apart_ ? count_ : 0)) {
    if (count_ == 0) return;
    space.copy(constraints->view(), v());
    if (is_apart_) {
      b->reserve(count_);
      b->apply(v(), images());
    }
    count_ = orthonormalize<T>(space, {}, v(), images(), {}, Orthonormality::to_rounding, b);
  }

  BlockView<T> v() { return vectors_.columns(0, count_); }
  BlockView<T> images() { return is_apart_ ? images_.columns(0, count_) : v(); }

 private:
  bool is_apart_;
  LocalIndex count_;
  DenseBlock<T> vectors_, images_;
};

/// Makes columns orthonormal in place, outside of constraints, each to those of smaller values: what it takes on
/// of another vector its residual has times their distance, which is little beside the larger value and may be
/// much beside the smaller. False where some depend on others.
template <class T>
bool make_orthonormal(BlockSpace<T>& space, LinearOperator<T>* b, const DenseBlock<T>* constraints,
                      BlockView<T> all, std::span<const double> values) {
  Outside<T> outside(space, b, constraints);
  const std::vector<std::size_t> order = by_magnitude(values);
  if (!order.empty()) space.permute_columns(all, order);
  DenseBlock<T> images = space.make_block(b != nullptr ? all.cols : 0);
  const BlockView<T> image = b != nullptr ? images.view() : all;
  if (b != nullptr) {
    b->reserve(all.cols);
    b->apply(all, image);
  }
  if (orthonormalize<T>(space, {outside.v()}, all, image, {outside.images()}, Orthonormality::to_rounding, b) <
      all.cols)
    return false;
  if (!order.empty()) space.permute_columns(all, inverse(order));
  return true;
}

}  // namespace

template <class T>
std::optional<EigenResult<T>> finished_pairs(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* b,
                                             const LobpcgOptions& options, const DenseBlock<T>& vectors,
                                             std::span<const double> values, const DenseBlock<T>* constraints) {
  const LocalIndex pairs = options.pairs;
  if (vectors.cols() < pairs) return std::nullopt;
  EigenResult<T> result;
  result.eigenvectors = space.make_block(pairs);
  const BlockView<T> all = result.eigenvectors.view();
  space.copy(vectors.columns(0, pairs), all);
  if (!make_orthonormal(space, b, constraints, all, values.first(static_cast<std::size_t>(pairs))))
    return std::nullopt;
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
                                                          const DenseBlock<float>&, std::span<const double>,
                                                          const DenseBlock<float>*);
template std::optional<EigenResult<double>> finished_pairs(BlockSpace<double>&, LinearOperator<double>&,
                                                           LinearOperator<double>*, const LobpcgOptions&,
                                                           const DenseBlock<double>&, std::span<const double>,
                                                           const DenseBlock<double>*);

}  // namespace block_eigs
