#include "apps/input/block_input.hpp"

#include <vector>

#include <fmt/format.h>

#include "io/formats/block_file.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

std::unique_ptr<BlockSource> open_block(const Communicator& comm, const BlockInput& input, const std::string& key,
                                        GlobalIndex rows) {
  std::unique_ptr<BlockSource> source = open_block_file(comm, input.file, input.datasets);
  require(source->rows() == rows,
          fmt::format("{}: {} has {} rows, the matrix has {}", key, source->description(), source->rows(), rows));
  return source;
}

template <class T>
DenseBlock<T> read_block(BlockSpace<T>& space, BlockSource& source, GlobalIndex columns) {
  const auto count = static_cast<LocalIndex>(columns);
  const std::vector<double> values = source.read(space.partition(), 0, count);
  DenseBlock<T> block = space.make_block(count);
  const std::vector<T> rounded(values.begin(), values.end());
  block.from_host(rounded.data());
  return block;
}

template DenseBlock<float> read_block(BlockSpace<float>&, BlockSource&, GlobalIndex);
template DenseBlock<double> read_block(BlockSpace<double>&, BlockSource&, GlobalIndex);

}  // namespace block_eigs
