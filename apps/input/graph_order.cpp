#include "apps/input/graph_order.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "apps/input/block_input.hpp"
#include "apps/input/near_null_space.hpp"
#include "io/partition/graph_cut.hpp"
#include "io/partition/graph_owners.hpp"
#include "io/partition/node_graph.hpp"
#include "io/partition/reordered_sources.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

using Order = std::shared_ptr<const RowOrder>;

/// Even, with borders between nodes.
Partition even(const Communicator& comm, GlobalIndex rows, int unknowns) {
  std::vector<GlobalIndex> offsets = Partition::uniform(rows / unknowns, comm.size()).offsets();
  for (GlobalIndex& offset : offsets) offset *= unknowns;
  return Partition(std::move(offsets));
}

void reorder(std::unique_ptr<MatrixSource>& source, CsrRows& rows, const Order& order) {
  CsrRows reordered = order->reordered(rows);
  rows = {};
  source = std::make_unique<ReorderedMatrix>(std::move(source), order, std::move(reordered));
}

void reorder(BlockInput& input, const Order& order) {
  input.in_memory = [input, order](const Communicator& comm) {
    return std::make_unique<ReorderedBlock>(open_block(comm, input), order);
  };
}

void reorder(std::optional<BlockInput>& input, const Order& order) {
  if (input) reorder(*input, order);
}

void reorder(PreconditionerConfig& preconditioner, const Order& order) {
  reorder(preconditioner.amg.coordinates, order);
  reorder(preconditioner.amg.near_null_space, order);
}

}  // namespace

RunConfig order_by_graph(const Communicator& comm, const RunConfig& config,
                         const PreconditionerConfig& preconditioner, Sources& sources) {
  RunConfig ordered = config;
  if (config.partition != PartitionWay::graph || comm.size() == 1) return ordered;
  require_graph_partitioner();
  const GlobalIndex size = sources.a->rows();
  const int wanted = unknowns_per_node(comm, preconditioner, config.matrix, size);
  const int unknowns = size % wanted == 0 ? wanted : 1;
  const Partition partition = even(comm, size, unknowns);
  CsrRows a = read_checked(comm, *sources.a, partition, false, config.precision);
  CsrRows b;
  if (sources.b) b = read_checked(comm, *sources.b, partition, true, config.precision);
  {
    const NodeGraph graph = node_graph(comm, partition, a, sources.b ? &b : nullptr, unknowns, work_of_a_row);
    const Partition in_order = balanced(comm, graph.nodes, graph.weights);
    sources.order =
        std::make_shared<const RowOrder>(comm, graph.nodes, cut_graph(comm, graph, in_order), unknowns);
  }
  reorder(sources.a, a, sources.order);
  if (sources.b) reorder(sources.b, b, sources.order);

  reorder(ordered.eigensolver.initial, sources.order);
  reorder(ordered.eigensolver.constraints, sources.order);
  reorder(ordered.eigensolver.preconditioner, sources.order);
  reorder(ordered.linear_solver.initial, sources.order);
  reorder(ordered.linear_solver.preconditioner, sources.order);
  if (ordered.right_hand_sides && !ordered.right_hand_sides->input.file.empty())
    reorder(ordered.right_hand_sides->input, sources.order);
  return ordered;
}

}  // namespace block_eigs
