#include "apps/input/start_vectors.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "apps/input/block_input.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

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

template StartVectors<float> read_start_vectors(BlockSpace<float>&, const EigensolverConfig&);
template StartVectors<double> read_start_vectors(BlockSpace<double>&, const EigensolverConfig&);

}  // namespace block_eigs
