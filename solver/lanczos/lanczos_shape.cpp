#include "solver/lanczos/lanczos_shape.hpp"

#include <algorithm>

#include "spmm/matrix/dense_block.hpp"

namespace block_eigs {

LanczosShape lanczos_shape(const LanczosOptions& options) {
  constexpr int very_few = 4;
  constexpr int few = 20;
  constexpr int narrow = 8;
  constexpr int wide = 16;
  constexpr int blocks_beyond = 6;
  constexpr int least_blocks = 14;  // a short Krylov space is hardly better than LOBPCG's
  const int block = options.pairs <= very_few ? very_few : options.pairs <= few ? narrow : wide;
  const int keep = options.columns + block;
  return {block, keep, keep + std::max(options.columns + blocks_beyond * block, least_blocks * block)};
}

template <class T>
std::size_t lanczos_bytes(LocalIndex rows, const LanczosOptions& options, bool with_b, LocalIndex constraints) {
  const auto block = [rows](LocalIndex cols) { return DenseBlock<T>::bytes(rows, cols); };
  const LanczosShape shape = lanczos_shape(options);
  const std::size_t basis = block(shape.capacity) + block(widest_block(shape)) + block(constraints);
  return (with_b ? 2 : 1) * basis + block(options.columns);
}

std::size_t lanczos_small_bytes(const LanczosOptions& options) {
  constexpr std::size_t matrices = 6;  // the projected one, its vectors, and the work space of LAPACK
  const auto order = static_cast<std::size_t>(lanczos_shape(options).capacity);
  return matrices * order * order * sizeof(double);
}

bool lanczos_fits(const LanczosOptions& options, GlobalIndex dimension) {
  return GlobalIndex{2} * lanczos_shape(options).capacity <= dimension;
}

template std::size_t lanczos_bytes<float>(LocalIndex, const LanczosOptions&, bool, LocalIndex);
template std::size_t lanczos_bytes<double>(LocalIndex, const LanczosOptions&, bool, LocalIndex);

}  // namespace block_eigs
