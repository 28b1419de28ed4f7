#pragma once

#include "spmm/types.hpp"

namespace block_eigs {

/// Throws InputError where the rows that rank `rank` of `ranks` owns, with the ghosts among its columns, are more
/// than local numbers of 32 bits count. The message says how many ranks would do if they shared both evenly. Not
/// collective.
void require_local_numbers(GlobalIndex own, GlobalIndex ghosts, int rank, int ranks);

}  // namespace block_eigs
