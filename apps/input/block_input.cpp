#include "apps/input/block_input.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "apps/input/scaling.hpp"
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

namespace {

/// Columns with very large or very small entries times powers of two: of start vectors and constraints directions
/// alone matter, and squares of their entries must stay in range. Collective.
void scale_columns(const Communicator& comm, std::vector<double>& values, std::size_t columns, bool in_float) {
  for (std::size_t j = 0; j < columns; ++j) {
    double largest = 0.0;
    for (std::size_t k = j; k < values.size(); k += columns) largest = std::max(largest, std::abs(values[k]));
    largest = comm.max(largest);
    const int exponent = std::isfinite(largest) ? scaling_exponent(largest, in_float, false) : 0;
    if (exponent == 0) continue;
    for (std::size_t k = j; k < values.size(); k += columns) values[k] = std::ldexp(values[k], exponent);
  }
}

/// Own rows of the first `columns` vectors, of comfortable size. Collective.
template <class T>
DenseBlock<T> read_directions(BlockSpace<T>& space, BlockSource& source, GlobalIndex columns) {
  const auto count = static_cast<LocalIndex>(columns);
  std::vector<double> values = source.read(space.partition(), 0, count);
  scale_columns(space.comm(), values, static_cast<std::size_t>(count), std::is_same_v<T, float>);
  DenseBlock<T> block = space.make_block(count);
  const std::vector<T> rounded(values.begin(), values.end());
  block.from_host(rounded.data());
  return block;
}

}  // namespace

template <class T>
bool take_resident(BlockSpace<T>& space, const BlockSource& source, GlobalIndex first, DenseBlock<T>& block) {
  const std::shared_ptr<Device>& device = space.context().device;
  const ConstBlockView<double> there = source.resident();
  if (space.comm().any(there.rows != block.rows() || !device->can_borrow(there.data))) return false;
  make_kernels<double>(device)->convert(there.columns(static_cast<LocalIndex>(first), block.cols()), {},
                                        block.view());
  // Who reads them in host memory says which entry is not finite, and bears with squares that are not.
  const std::vector<double> norms = space.column_norms(block.view());
  return std::all_of(norms.begin(), norms.end(), [](double norm) { return std::isfinite(norm); });
}

template <class T>
DenseBlock<T> read_block(BlockSpace<T>& space, BlockSource& source, GlobalIndex columns) {
  const auto count = static_cast<LocalIndex>(columns);
  DenseBlock<T> block = space.make_block(count);
  if (take_resident(space, source, 0, block)) return block;
  const std::vector<double> values = source.read(space.partition(), 0, count);
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
        read_directions(space, *source, std::min<GlobalIndex>(source->columns(), config.options.block_size));
  }
  if (config.constraints) {
    const auto source =
        open_block(space.comm(), *config.constraints, "eigensolver.constraints", space.dimension());
    require(source->columns() + config.options.pairs <= space.dimension(),
            fmt::format("eigensolver.constraints: {} vectors of {} and {} wanted do not fit into {} dimensions",
                        source->columns(), source->description(), config.options.pairs, space.dimension()));
    start.constraints = read_directions(space, *source, source->columns());
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

template bool take_resident(BlockSpace<float>&, const BlockSource&, GlobalIndex, DenseBlock<float>&);
template bool take_resident(BlockSpace<double>&, const BlockSource&, GlobalIndex, DenseBlock<double>&);
template StartVectors<float> read_start_vectors(BlockSpace<float>&, const EigensolverConfig&);
template StartVectors<double> read_start_vectors(BlockSpace<double>&, const EigensolverConfig&);
template DenseBlock<float> read_initial(BlockSpace<float>&, const LinearSolverConfig&, GlobalIndex);
template DenseBlock<double> read_initial(BlockSpace<double>&, const LinearSolverConfig&, GlobalIndex);
template DenseBlock<float> read_block(BlockSpace<float>&, BlockSource&, GlobalIndex);
template DenseBlock<double> read_block(BlockSpace<double>&, BlockSource&, GlobalIndex);

}  // namespace block_eigs
