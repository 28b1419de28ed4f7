#pragma once

#include "apps/config/config.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/dense_block.hpp"

namespace block_eigs {

/// Blocks that a run starts from, own rows; without columns where the config names none.
template <class T>
struct StartVectors {
  DenseBlock<T> initial;  ///< at most block_size columns
  DenseBlock<T> constraints;
};

/// Reads them from their files. Of `initial` the first block_size columns are taken. Throws InputError where a
/// file is broken, has another number of rows, or where constraints leave no room for the pairs. Collective.
template <class T>
StartVectors<T> read_start_vectors(BlockSpace<T>& space, const EigensolverConfig& config);

}  // namespace block_eigs
