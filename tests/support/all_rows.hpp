#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "solver/space/block_space.hpp"

namespace block_eigs::test {

/// All rows of a block on all ranks, row-major. Collective.
template <class T>
std::vector<double> all_rows(BlockSpace<T>& space, const DenseBlock<T>& block) {
  const auto cols = static_cast<std::size_t>(block.cols());
  std::vector<double> all(static_cast<std::size_t>(space.partition().rows()) * cols, 0.0);
  const std::vector<T> own = block.to_host();
  std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(cols) * space.first_row());
  space.comm().sum(std::span(all));
  return all;
}

}  // namespace block_eigs::test
