#pragma once

#include "spmm/types.hpp"

namespace block_eigs::host {

/// Which rows of the dense block are asked for before they are used. Where nearly all of them were used for the
/// row of A before, or lie beside such ones (stencils, bands, meshes in a good order), they are in cache, but for
/// the one furthest down; asking for all would take as long as the arithmetic. Where columns are random, nothing
/// else brings them in time.
enum class Fetch { last_of_row, every_row };

/// From a sample of the rows of a matrix.
Fetch fetching_for(const Offset* row_offsets, const LocalIndex* column_indices, LocalIndex rows);

}  // namespace block_eigs::host
