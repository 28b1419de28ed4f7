#include "apps/start_vectors.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "io/block_file.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

template <class T>
DenseBlock<T> read_block(BlockSpace<T>& space, BlockSource& source, GlobalIndex columns) {
  const auto count = static_cast<LocalIndex>(columns);
  const std::vector<double> values = source.read(space.partition(), 0, count);
  DenseBlock<T> block = space.make_block(count);
  const std::vector<T> rounded(values.begin(), values.end());
  block.from_host(rounded.data());
  return block;
}

std::unique_ptr<BlockSource> open_block(const Communicator& comm, const BlockInput& input, const char* key,
                                        GlobalIndex rows) {
  std::unique_ptr<BlockSource> source = open_block_file(comm, input.file, input.datasets);
  require(source->rows() == rows, fmt::format("eigensolver.{}: {} has {} rows, the matrix has {}", key,
                                              source->description(), source->rows(), rows));
  return source;
}

}  // namespace

template <class T>
StartVectors<T> read_start_vectors(BlockSpace<T>& space, const EigensolverConfig& config) {
  const Profile::Scope scope(space.profile(), Phase::io);
  StartVectors<T> start;
  if (config.initial) {
    const auto source = open_block(space.comm(), *config.initial, "initial", space.dimension());
    start.initial =
        read_block(space, *source, std::min<GlobalIndex>(source->columns(), config.options.block_size));
  }
  if (config.constraints) {
    const auto source = open_block(space.comm(), *config.constraints, "constraints", space.dimension());
    require(source->columns() + config.options.pairs <= space.dimension(),
            fmt::format("eigensolver.constraints: {} vectors of {} and {} wanted do not fit into {} dimensions",
                        source->columns(), source->description(), config.options.pairs, space.dimension()));
    start.constraints = read_block(space, *source, source->columns());
  }
  return start;
}

template StartVectors<float> read_start_vectors(BlockSpace<float>&, const EigensolverConfig&);
template StartVectors<double> read_start_vectors(BlockSpace<double>&, const EigensolverConfig&);

}  // namespace block_eigs
