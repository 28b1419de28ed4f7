#pragma once

#include <memory>
#include <string>

#include "apps/config/config.hpp"
#include "io/source/block_source.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/dense_block.hpp"

namespace block_eigs {

/// Opens the vectors that `key` of the config names. Throws InputError unless they have `rows` rows. Collective.
std::unique_ptr<BlockSource> open_block(const Communicator& comm, const BlockInput& input, const std::string& key,
                                        GlobalIndex rows);

/// Own rows of its first `columns` vectors. Collective.
template <class T>
DenseBlock<T> read_block(BlockSpace<T>& space, BlockSource& source, GlobalIndex columns);

}  // namespace block_eigs
