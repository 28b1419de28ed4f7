#pragma once

#include <string>

#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// Throws InputError on all ranks where `bytes`, which a rank is about to take for what `what` says ("/a.mtx:
/// 2000000000 rows"), are more than the memory that the ranks of its node have left: the system gives out more
/// than it has and ends the process later. A file of a hundred bytes may say that it has 10^9 rows. Collective.
void require_memory(const Communicator& comm, double bytes, const std::string& what);

}  // namespace block_eigs
