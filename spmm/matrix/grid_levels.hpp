#pragma once

#include <vector>

#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// Why there is no coarser level though there are still many rows: it would hardly have fewer of them, or too many
/// entries.
enum class CoarseningEnd { none, rows, fill };

/// One level of a multigrid hierarchy in host memory: own rows of its matrix, and the interpolation from the next
/// coarser level with its transpose (both without rows on the coarsest). Made by whoever builds the hierarchy,
/// consumed by the cycle.
struct GridLevel {
  Partition partition;  ///< of this level's unknowns
  CsrRows matrix;
  CsrRows interpolation;                      ///< rows of this level, columns of the coarser one
  CsrRows restriction;                        ///< rows of the coarser level, columns of this one
  CoarseningEnd ended = CoarseningEnd::none;  ///< on the coarsest
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
