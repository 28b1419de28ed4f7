#include "apps/input/near_null_space.hpp"

#include <vector>

#include <fmt/format.h>

#include "apps/input/block_input.hpp"
#include "io/generate/generate.hpp"
#include "solver/multigrid/rigid_body_modes.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

bool generated_with_coordinates(const PreconditionerConfig& config, const MatrixConfig& matrix) {
  return matrix.generate == "elasticity3d" && !config.amg.coordinates && !config.amg.near_null_space;
}

/// Coordinates of nodes in two or three dimensions, with as many unknowns a node.
std::unique_ptr<BlockSource> open_coordinates(const Communicator& comm, const BlockInput& input,
                                              GlobalIndex rows) {
  auto source = open_block(comm, input);
  const GlobalIndex dimensions = source->columns();
  require(
      (dimensions == 2 || dimensions == 3) && source->rows() * dimensions == rows,
      fmt::format("preconditioner.coordinates: {} is {} x {}; the matrix has {} rows: needed are {} x 3 or {} x 2 "
                  "numbers, the place of every node of three or two unknowns",
                  source->description(), source->rows(), dimensions, rows, rows / 3, rows / 2));
  return source;
}

/// The modes of the nodes that the rows of this rank belong to.
NearNullSpace from_coordinates(const Communicator& comm, const BlockInput& input, const Partition& partition) {
  const auto source = open_coordinates(comm, input, partition.rows());
  const auto dimensions = static_cast<int>(source->columns());
  std::vector<GlobalIndex> offsets = partition.offsets();
  for (GlobalIndex& offset : offsets) offset /= dimensions;
  std::vector<double> places = source->read(Partition(std::move(offsets)), 0, dimensions);
  center(comm, dimensions, places);
  NearNullSpace space;
  space.modes = rigid_body_mode_count(dimensions);
  space.unknowns_per_node = dimensions;
  space.vectors = rigid_body_modes(dimensions, places);
  return space;
}

NearNullSpace from_file(const Communicator& comm, const AmgConfig& config, const Partition& partition) {
  constexpr GlobalIndex most = 32;
  const auto source =
      open_block(comm, *config.near_null_space, "preconditioner.near_null_space", partition.rows());
  require(source->columns() >= 1 && source->columns() <= most,
          fmt::format("preconditioner.near_null_space: {} holds {} vectors; it takes 1 to {}",
                      source->description(), source->columns(), most));
  NearNullSpace space;
  space.modes = static_cast<int>(source->columns());
  space.unknowns_per_node = config.unknowns_per_node;
  space.vectors = source->read(partition, 0, space.modes);
  return space;
}

}  // namespace

int unknowns_per_node(const Communicator& comm, const PreconditionerConfig& config, const MatrixConfig& matrix,
                      GlobalIndex rows) {
  if (config.type != PreconditionerType::amg && config.type != PreconditionerType::automatic) return 1;
  if (generated_with_coordinates(config, matrix)) return 3;
  if (config.amg.coordinates)
    return static_cast<int>(open_coordinates(comm, *config.amg.coordinates, rows)->columns());
  require(rows % config.amg.unknowns_per_node == 0,
          fmt::format("preconditioner.unknowns_per_node: {} does not divide the {} rows of the matrix",
                      config.amg.unknowns_per_node, rows));
  return config.amg.unknowns_per_node;
}

NearNullSpace read_near_null_space(const Communicator& comm, const PreconditionerConfig& config,
                                   const MatrixConfig& matrix, const Partition& partition, const RowOrder* order) {
  if (config.amg.coordinates) return from_coordinates(comm, *config.amg.coordinates, partition);
  if (config.amg.near_null_space) return from_file(comm, config.amg, partition);
  NearNullSpace space;
  if (generated_with_coordinates(config, matrix)) {
    space.modes = rigid_body_mode_count(3);
    space.unknowns_per_node = 3;
    const Partition& known = order != nullptr ? order->file() : partition;
    space.vectors =
        elasticity3d_rigid_body_modes(matrix.elasticity, known.begin(comm.rank()), known.end(comm.rank()));
    if (order != nullptr) space.vectors = order->reordered(space.vectors, static_cast<std::size_t>(space.modes));
  } else {
    space.unknowns_per_node = config.amg.unknowns_per_node;
  }
  return space;
}

}  // namespace block_eigs
