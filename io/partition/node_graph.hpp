#pragma once

#include <span>
#include <vector>

#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// What couples with what in a symmetric matrix: nodes of equally many consecutive rows, dealt to ranks. Own node
/// i has the neighbours offsets[i] .. offsets[i + 1] - 1, ascending, itself not among them, and is among those of
/// each of them.
struct NodeGraph {
  Partition nodes;
  std::vector<Offset> offsets{0};
  std::vector<GlobalIndex> neighbours;
  std::vector<Offset> weights;        ///< work of own nodes
  std::vector<Offset> arc_weights{};  ///< beside `neighbours`, the same both ways; empty: all are 1

  Offset arcs() const { return offsets.back(); }
};

/// The graph of A + B, or of A where `b` is null. `rows` of both is how `a` and `b` are dealt, its borders between
/// nodes of `unknowns` rows. A row weighs its nonzeros plus `row_weight`. Entries that are stored on one side of
/// the diagonal alone (zeros may be) couple all the same. Collective; throws RunError where memory does not
/// suffice.
NodeGraph node_graph(const Communicator& comm, const Partition& rows, const CsrRows& a, const CsrRows* b,
                     int unknowns, Offset row_weight);

}  // namespace block_eigs
