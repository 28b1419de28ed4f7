#include "solver/multigrid/near_null_space.hpp"

#include <string>

#include "spmm/error.hpp"

namespace block_eigs {

NearNullSpace complete_near_null_space(const NearNullSpace& given, LocalIndex rows) {
  NearNullSpace space = given;
  const auto count = static_cast<std::size_t>(rows);
  require(space.unknowns_per_node >= 1 && rows % space.unknowns_per_node == 0,
          "amg: the " + std::to_string(rows) + " rows of a rank are no multiple of the " +
              std::to_string(space.unknowns_per_node) + " unknowns a node");
  if (space.modes == 0) {
    space.modes = space.unknowns_per_node;
    const auto width = static_cast<std::size_t>(space.modes);
    space.vectors.assign(count * width, 0.0);
    for (std::size_t i = 0; i < count; ++i) space.vectors[i * width + i % width] = 1.0;
  }
  require(space.vectors.size() == count * static_cast<std::size_t>(space.modes),
          "amg: the near-null space does not have the rows of the matrix");
  return space;
}

}  // namespace block_eigs
