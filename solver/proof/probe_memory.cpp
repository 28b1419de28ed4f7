#include "solver/proof/probe_memory.hpp"

#include <algorithm>

#include "solver/proof/probe.hpp"
#include "spmm/matrix/dense_block.hpp"

namespace block_eigs {

namespace {

/// An orthonormal basis of constraints, and B times that and the found vectors.
template <class T>
std::size_t deflation_bytes(const ProbeShape& shape) {
  const std::size_t basis = DenseBlock<T>::bytes(shape.rows, shape.constraints);
  return shape.with_mass ? DenseBlock<T>::bytes(shape.rows, shape.found) + 2 * basis : basis;
}

/// filter_random_block().
template <class T>
std::size_t filter_bytes(const ProbeShape& shape) {
  const std::size_t block = DenseBlock<T>::bytes(shape.rows, probe_columns<T>());
  const bool plain = !shape.with_mass && !shape.preconditioned;
  const std::size_t start = plain ? 0 : 2 * DenseBlock<T>::bytes(shape.rows, probe_columns<T>() + most_calibrated);
  return (plain ? 2 : 4) * block + std::max(start, 2 * block);
}

}  // namespace

template <class T>
LocalIndex widest_of_probe(bool in_float) {
  return (in_float ? probe_columns<float>() : probe_columns<T>()) + most_calibrated;
}

template <class T>
std::size_t probe_bytes(const ProbeShape& shape) {
  const std::size_t held = deflation_bytes<T>(shape);
  if (!shape.in_float) return held + filter_bytes<T>(shape);
  const std::size_t copies = DenseBlock<float>::bytes(shape.rows, shape.found) +
                             DenseBlock<float>::bytes(shape.rows, shape.constraints) +
                             deflation_bytes<float>(shape);
  // After the filter: the block, its image and the work space of S.
  const std::size_t after = 3 * DenseBlock<T>::bytes(shape.rows, probe_columns<float>());
  return held + std::max(copies + filter_bytes<float>(shape), after);
}

template LocalIndex widest_of_probe<float>(bool);
template LocalIndex widest_of_probe<double>(bool);
template std::size_t probe_bytes<float>(const ProbeShape&);
template std::size_t probe_bytes<double>(const ProbeShape&);

}  // namespace block_eigs
