#include <algorithm>

#include "solver/lobpcg/lobpcg.hpp"

namespace block_eigs {

int default_block_size(int pairs) {
  // The small problems grow with the cube of the columns, and so many keep the kernels busy.
  constexpr int largest_block = 150;
  constexpr int window = 128;
  return pairs <= largest_block ? pairs + std::clamp(pairs / 4, 2, 16) : window;
}

int start_columns(int pairs, int block_size) {
  return pairs < block_size ? pairs + 3 * (block_size - pairs) / 4 : block_size;
}

int block_width(const LobpcgOptions& options) {
  return options.block_size > 0 ? options.block_size : default_block_size(options.pairs);
}

}  // namespace block_eigs
