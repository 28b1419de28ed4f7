#pragma once

#include <memory>
#include <string>

#include "apps/config/config.hpp"
#include "io/source/block_source.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/dense_block.hpp"

namespace block_eigs {

/// Opens the vectors, whatever rows they have. Collective; throws InputError.
std::unique_ptr<BlockSource> open_block(const Communicator& comm, const BlockInput& input);
/// Opens the vectors that `key` of the config names. Throws InputError unless they have `rows` rows. Collective.
std::unique_ptr<BlockSource> open_block(const Communicator& comm, const BlockInput& input, const std::string& key,
                                        GlobalIndex rows);

/// Fills `block` with own rows of the source's vectors from `first` on where they are in memory of the device at
/// work already, on all ranks, and finite; else returns false. Collective.
template <class T>
bool take_resident(BlockSpace<T>& space, const BlockSource& source, GlobalIndex first, DenseBlock<T>& block);

/// Own rows of its first `columns` vectors. Collective.
template <class T>
DenseBlock<T> read_block(BlockSpace<T>& space, BlockSource& source, GlobalIndex columns);

/// Blocks that a run of the eigensolver starts from, own rows; without columns where the config names none.
template <class T>
struct StartVectors {
  DenseBlock<T> initial;  ///< at most block_size columns
  DenseBlock<T> constraints;
  bool resumes = false;  ///< in their place a checkpoint gives the vectors to go on with
};

/// Reads them from their files. Of `initial` the first block_size columns are taken. Throws InputError where a
/// file is broken, has another number of rows, or where constraints leave no room for the pairs. Collective.
template <class T>
StartVectors<T> read_start_vectors(BlockSpace<T>& space, const EigensolverConfig& config);

/// The first guess of the linear solver, own rows of n x `sides`; without columns where the config names none.
/// Throws InputError where the file does not hold as many vectors. Collective.
template <class T>
DenseBlock<T> read_initial(BlockSpace<T>& space, const LinearSolverConfig& config, GlobalIndex sides);

}  // namespace block_eigs
