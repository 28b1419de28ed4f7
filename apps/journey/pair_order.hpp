#pragma once

#include <cstddef>
#include <vector>

#include "solver/lobpcg/lobpcg.hpp"
#include "solver/space/block_space.hpp"

namespace block_eigs {

/// Where these eigenvalues stand, from the wanted end on: equal ones as they are, what is not known last.
std::vector<std::size_t> positions_in_order(const std::vector<double>& eigenvalues, Which which);

/// Where pairs with these eigenvalues stand in their order, from the wanted end on; nothing where they are in it.
/// Equal ones stay as they are.
std::vector<std::size_t> pair_order(const std::vector<double>& eigenvalues, Which which);

/// What each of the pairs has, in that order.
template <class V>
std::vector<V> in_order(const std::vector<V>& of_pairs, const std::vector<std::size_t>& order) {
  std::vector<V> result;
  for (const std::size_t j : order) result.push_back(of_pairs[j]);
  return result;
}

/// A result whose pairs were found in another order than they stand in. Not collective.
template <class T>
void put_in_order(BlockSpace<T>& space, EigenResult<T>& result, Which which);

}  // namespace block_eigs
