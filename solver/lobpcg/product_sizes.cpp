#include "solver/lobpcg/product_sizes.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace block_eigs {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// sizes[j] = the smaller one of it and estimates[j]
void lower(std::vector<double>& sizes, const std::vector<double>& estimates) {
  for (std::size_t j = 0; j < sizes.size(); ++j) sizes[j] = std::min(sizes[j], estimates[j]);
}

}  // namespace

template <class T>
ProductSizes<T>::ProductSizes(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* b)
    : probe_a_(space, a), probe_b_(space, b != nullptr ? *b : a), with_mass_(b != nullptr) {}

template <class T>
void ProductSizes<T>::bound(const ResidualTest& test, RitzPairs& pairs) const {
  pairs.a_sizes.clear();
  pairs.b_sizes.clear();
  for (const double norm : pairs.norms) {
    pairs.a_sizes.push_back(test.norms().a * norm);
    pairs.b_sizes.push_back(test.norms().b * norm);
  }
  pairs.probed.assign(pairs.values.size(), never);
}

template <class T>
bool ProductSizes<T>::due(const ResidualTest& test, const RitzPairs& bounds,
                          const std::vector<double>& probed) const {
  constexpr int steps = 8;
  for (int j = 0; j < bounds.count(); ++j) {
    const auto i = static_cast<std::size_t>(j);
    if (!test.hangs_on_sizes(bounds.pair(j))) continue;
    if (since_ >= steps || i >= probed.size() || bounds.residuals[i] < 0.5 * probed[i]) return true;
  }
  return false;
}

template <class T>
void ProductSizes<T>::measure(const ResidualTest& test, BlockView<T> x, BlockView<T> spare, RitzPairs& pairs) {
  RitzPairs before;
  std::swap(before.a_sizes, pairs.a_sizes);
  std::swap(before.b_sizes, pairs.b_sizes);
  std::swap(before.probed, pairs.probed);
  bound(test, pairs);
  ++since_;
  if (due(test, pairs, before.probed)) {
    lower(pairs.a_sizes, probe_a_.product_scales(x, spare));
    if (with_mass_) lower(pairs.b_sizes, probe_b_.product_scales(x, spare));
    pairs.probed = pairs.residuals;
    since_ = 0;
    return;
  }
  for (std::size_t j = 0; j < std::min(before.probed.size(), pairs.probed.size()); ++j) {
    if (before.probed[j] == never) continue;
    pairs.a_sizes[j] = std::min(pairs.a_sizes[j], before.a_sizes[j]);
    pairs.b_sizes[j] = std::min(pairs.b_sizes[j], before.b_sizes[j]);
    pairs.probed[j] = before.probed[j];
  }
}

template class ProductSizes<float>;
template class ProductSizes<double>;

}  // namespace block_eigs
