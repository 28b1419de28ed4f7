#pragma once

#include <string>

#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// Words for ranks that a launcher has bound to few of the cores that it has itself, which it does unasked (Open
/// MPI binds to one core up to two ranks, and counts ranks, not threads); empty where there is nothing to say:
/// cores are in use, or OMP_NUM_THREADS is set. Of the node of the calling rank. Not collective.
std::string idle_cores(const Communicator& comm);

}  // namespace block_eigs
