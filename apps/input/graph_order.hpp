#pragma once

#include "apps/config/config.hpp"
#include "apps/input/problem.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// What `partition: graph` asks for: reads the matrices (an InputError names rows by their numbers in the file),
/// gives rows that belong together to one rank and lets `sources` deliver them so, with `sources.order` beside
/// them. Returns `config` with all vectors that it names delivered in that order; as it is for other partitions
/// and on one rank. Rows of a node that `preconditioner` works with stay together. Collective.
RunConfig order_by_graph(const Communicator& comm, const RunConfig& config,
                         const PreconditionerConfig& preconditioner, Sources& sources);

}  // namespace block_eigs
