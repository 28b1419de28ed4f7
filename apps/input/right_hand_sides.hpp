#pragma once

#include <memory>

#include "apps/config/config.hpp"
#include "io/partition/row_order.hpp"
#include "io/source/block_source.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/dense_block.hpp"

namespace block_eigs {

/// F of A X = F: vectors of a file, or random ones.
class RightHandSides {
 public:
  /// Opens the file where there is one. Throws InputError where the config names no right-hand sides, or their
  /// length is not `rows`. With an `order` random ones belong to rows of the file all the same. Collective.
  RightHandSides(const Communicator& comm, const RunConfig& config, GlobalIndex rows,
                 std::shared_ptr<const RowOrder> order = {});

  GlobalIndex count() const { return source_ ? source_->columns() : random_.random; }
  std::string description() const;

  /// Own rows of all. Random ones are the same for any number of ranks. Collective.
  template <class T>
  DenseBlock<T> read(BlockSpace<T>& space);
  /// Own rows of some as `solved` holds them, in double: from the file once more, without the rounding of T.
  /// Collective.
  template <class T>
  DenseBlock<double> read_exactly(BlockSpace<double>& space, const DenseBlock<T>& solved, LocalIndex first,
                                  LocalIndex count);

 private:
  std::shared_ptr<const RowOrder> order_;
  std::unique_ptr<BlockSource> source_;
  RightHandSidesConfig random_;
};

}  // namespace block_eigs
