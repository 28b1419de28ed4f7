#include "apps/input/block_input.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "io/formats/block_file.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

std::unique_ptr<BlockSource> open_block(const Communicator& comm, const BlockInput& input) {
  return input.in_memory ? input.in_memory(comm) : open_block_file(comm, input.file, input.datasets);
}

std::unique_ptr<BlockSource> open_block(const Communicator& comm, const BlockInput& input, const std::string& key,
                                        GlobalIndex rows) {
  std::unique_ptr<BlockSource> source = open_block(comm, input);
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

template <class T>
StartVectors<T> read_start_vectors(BlockSpace<T>& space, const EigensolverConfig& config) {
  const Profile::Scope scope(space.profile(), Phase::io);
  StartVectors<T> start;
  if (config.initial) {
    const auto source = open_block(space.comm(), *config.initial, "eigensolver.initial", space.dimension());
    start.initial =
        read_block(space, *source, std::min<GlobalIndex>(source->columns(), config.options.block_size));
  }
  if (config.constraints) {
    const auto source =
        open_block(space.comm(), *config.constraints, "eigensolver.constraints", space.dimension());
    require(source->columns() + config.options.pairs <= space.dimension(),
            fmt::format("eigensolver.constraints: {} vectors of {} and {} wanted do not fit into {} dimensions",
                        source->columns(), source->description(), config.options.pairs, space.dimension()));
    start.constraints = read_block(space, *source, source->columns());
  }
  return start;
}

template <class T>
DenseBlock<T> read_initial(BlockSpace<T>& space, const LinearSolverConfig& config, GlobalIndex sides) {
  if (!config.initial) return {};
  const Profile::Scope scope(space.profile(), Phase::io);
  const auto source = open_block(space.comm(), *config.initial, "linear_solver.initial", space.dimension());
  require(source->columns() == sides,
          fmt::format("linear_solver.initial: {} holds {} vectors, but there are {} right-hand sides",
                      source->description(), source->columns(), sides));
  return read_block(space, *source, sides);
}

template StartVectors<float> read_start_vectors(BlockSpace<float>&, const EigensolverConfig&);
template StartVectors<double> read_start_vectors(BlockSpace<double>&, const EigensolverConfig&);
template DenseBlock<float> read_initial(BlockSpace<float>&, const LinearSolverConfig&, GlobalIndex);
template DenseBlock<double> read_initial(BlockSpace<double>&, const LinearSolverConfig&, GlobalIndex);
template DenseBlock<float> read_block(BlockSpace<float>&, BlockSource&, GlobalIndex);
template DenseBlock<double> read_block(BlockSpace<double>&, BlockSource&, GlobalIndex);

}  // namespace block_eigs
