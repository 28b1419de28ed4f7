// Built in place of graph_owners.cpp where PT-Scotch was not found.
#include "io/partition/graph_owners.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

void require_graph_partitioner() {
  throw InputError(
      "partition: graph needs PT-Scotch, which this build is without (Debian: libptscotch-dev, then configure "
      "again); "
      "partition: nonzeros needs nothing");
}

std::vector<int> graph_owners(const Communicator&, const NodeGraph&) {
  require_graph_partitioner();
  return {};
}

}  // namespace block_eigs
