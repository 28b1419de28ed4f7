#pragma once

#include "spmm/matrix/grid_levels.hpp"

namespace block_eigs {

/// `given`, or the constant for each unknown of a node where it has no vectors. Throws InputError where that does
/// not fit the `rows` of a rank. Not collective.
NearNullSpace complete_near_null_space(const NearNullSpace& given, LocalIndex rows);

}  // namespace block_eigs
