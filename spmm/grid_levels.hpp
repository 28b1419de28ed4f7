#pragma once

#include <vector>

#include "spmm/csr_rows.hpp"
#include "spmm/partition.hpp"

namespace block_eigs {

/// One level of a multigrid hierarchy in host memory: own rows of its matrix, and the interpolation from the next
/// coarser level with its transpose (both without rows on the coarsest). Made by whoever builds the hierarchy,
/// consumed by the V-cycle.
struct GridLevel {
  Partition partition;  ///< of this level's unknowns
  CsrRows matrix;
  CsrRows interpolation;  ///< rows of this level, columns of the coarser one
  CsrRows restriction;    ///< rows of the coarser level, columns of this one
};

/// Finest level first.
using GridHierarchy = std::vector<GridLevel>;

}  // namespace block_eigs
