#include "apps/journey/pair_order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace block_eigs {

std::vector<std::size_t> positions_in_order(const std::vector<double>& eigenvalues, Which which) {
  std::vector<std::size_t> order(eigenvalues.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t j) {
    const double value = which == Which::smallest ? eigenvalues[j] : -eigenvalues[j];
    return std::isnan(value) ? HUGE_VAL : value;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return key(i) < key(j); });
  return order;
}

std::vector<std::size_t> pair_order(const std::vector<double>& eigenvalues, Which which) {
  std::vector<std::size_t> order = positions_in_order(eigenvalues, which);
  if (std::is_sorted(order.begin(), order.end())) order.clear();
  return order;
}

template <class T>
void put_in_order(BlockSpace<T>& space, EigenResult<T>& result, Which which) {
  const std::vector<std::size_t> order = pair_order(result.eigenvalues, which);
  if (order.empty()) return;
  result.eigenvalues = in_order(result.eigenvalues, order);
  result.residual_norms = in_order(result.residual_norms, order);
  result.error_bounds = in_order(result.error_bounds, order);
  result.outcomes = in_order(result.outcomes, order);
  space.permute_columns(result.eigenvectors.view(), order);
}

template void put_in_order(BlockSpace<float>&, EigenResult<float>&, Which);
template void put_in_order(BlockSpace<double>&, EigenResult<double>&, Which);

}  // namespace block_eigs
