#pragma once

#include <string>
#include <vector>

#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// One level of a multigrid hierarchy in host memory: own rows of its matrix, and the interpolation from the next
/// coarser level with its transpose (both without rows on the coarsest). Made by whoever builds the hierarchy,
/// consumed by the cycle.
struct GridLevel {
  Partition partition;  ///< of this level's unknowns
  CsrRows matrix;
  CsrRows interpolation;  ///< rows of this level, columns of the coarser one
  CsrRows restriction;    ///< rows of the coarser level, columns of this one
  std::string ended{};    ///< on the coarsest: why there is no coarser one, where it is not for having few rows
};

/// Vectors that are nearly in the null space of the matrix without its boundary conditions: what smoothers leave
/// over, and coarse levels must represent. Without vectors it is the constant; for elasticity the rigid-body
/// modes.
struct NearNullSpace {
  std::vector<double> vectors{};  ///< row-major [own rows][modes]
  int modes = 0;
  int unknowns_per_node = 1;  ///< consecutive rows that belong together
};

/// Finest level first.
using GridHierarchy = std::vector<GridLevel>;

}  // namespace block_eigs
