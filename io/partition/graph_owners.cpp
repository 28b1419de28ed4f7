#include "io/partition/graph_owners.hpp"

// ptscotch.h names MPI_Comm, FILE and int64_t and includes none of them.
#include <mpi.h>

#include <cstdint>
#include <cstdio>

#include <ptscotch.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr SCOTCH_Num seed = 1;
/// A rank's weight may be above the mean by this part of it.
constexpr double imbalance = 0.05;

void check(int status, const char* what) {
  if (status != 0) throw RunError(fmt::format("partition: graph: {} of PT-Scotch failed", what));
}

/// What the library takes: arrays of its own integers, which stay where they are while a graph refers to them.
struct Arrays {
  std::vector<SCOTCH_Num> offsets;
  std::vector<SCOTCH_Num> neighbours;
  std::vector<SCOTCH_Num> weights;
  std::vector<SCOTCH_Num> arc_weights;
};

/// Weights whose sum over all ranks, `total`, has to fit the library's integers as well; 1 at least.
std::vector<SCOTCH_Num> scaled(const std::vector<Offset>& weights, Offset total) {
  const Offset divisor = total / (std::numeric_limits<SCOTCH_Num>::max() / 2) + 1;
  // One place more: the library wants addresses of empty arrays too.
  std::vector<SCOTCH_Num> numbers(weights.size() + 1);
  std::transform(weights.begin(), weights.end(), numbers.begin(), [&](Offset weight) {
    return static_cast<SCOTCH_Num>(std::max<Offset>(1, (weight + divisor / 2) / divisor));
  });
  return numbers;
}

Arrays arrays_of(const NodeGraph& graph, Offset total_weight, Offset total_arc_weight) {
  Arrays arrays;
  const auto number = [](auto value) { return static_cast<SCOTCH_Num>(value); };
  arrays.offsets.resize(graph.offsets.size());
  std::transform(graph.offsets.begin(), graph.offsets.end(), arrays.offsets.begin(), number);
  arrays.neighbours.resize(graph.neighbours.size() + 1);
  std::transform(graph.neighbours.begin(), graph.neighbours.end(), arrays.neighbours.begin(), number);
  arrays.weights = scaled(graph.weights, total_weight);
  if (total_arc_weight > 0) arrays.arc_weights = scaled(graph.arc_weights, total_arc_weight);
  return arrays;
}

/// Handles of the library, given back however the work ends.
class Partitioner {
 public:
  explicit Partitioner(const Communicator& comm) : comm_(comm) {
    SCOTCH_contextInit(&context_);
    // One thread: the ranks are the parallelism, and MPI is told of no threads.
    SCOTCH_contextThreadSpawn(&context_, 1, nullptr);
    SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMDETERMINISTIC, 1);
    SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMRANDOMFIXEDSEED, 1);
    SCOTCH_contextRandomClone(&context_);
    SCOTCH_contextRandomSeed(&context_, seed);
    SCOTCH_contextRandomReset(&context_);
    SCOTCH_dgraphInit(&graph_, own_.handle());
    SCOTCH_dgraphInit(&bound_, own_.handle());
    SCOTCH_stratInit(&strategy_);
  }
  Partitioner(const Partitioner&) = delete;
  Partitioner& operator=(const Partitioner&) = delete;
  ~Partitioner() {
    SCOTCH_stratExit(&strategy_);
    SCOTCH_dgraphExit(&bound_);
    SCOTCH_dgraphExit(&graph_);
    SCOTCH_contextExit(&context_);
  }

  /// Collective; throws on all ranks where a step fails on one.
  std::vector<SCOTCH_Num> owners(Arrays& arrays, int ranks) {
    const auto nodes = static_cast<SCOTCH_Num>(arrays.offsets.size()) - 1;
    const SCOTCH_Num arcs = arrays.offsets.back();
    check(SCOTCH_dgraphBuild(&graph_, 0, nodes, nodes, arrays.offsets.data(), nullptr, arrays.weights.data(),
                             nullptr, arcs, arcs, arrays.neighbours.data(), nullptr,
                             arrays.arc_weights.empty() ? nullptr : arrays.arc_weights.data()),
          "building the graph");
    check(SCOTCH_contextBindDgraph(&context_, &graph_, &bound_), "binding the graph");
    // On meshes and on R-MAT graphs as good as the default, and sooner done.
    check(SCOTCH_stratDgraphMapBuild(&strategy_, SCOTCH_STRATSPEED, ranks, ranks, imbalance), "the strategy");
    std::vector<SCOTCH_Num> owners;
    comm_.collectively([&] { owners.resize(static_cast<std::size_t>(nodes) + 1); });
    check(SCOTCH_dgraphPart(&bound_, ranks, &strategy_, owners.data()), "partitioning");
    owners.pop_back();
    return owners;
  }

 private:
  /// A status of the library, which may differ from rank to rank.
  void check(int status, const char* doing) const {
    comm_.collectively([&] { block_eigs::check(status, doing); });
  }

  const Communicator& comm_;
  /// For the library alone: its messages never meet ours, not even where it fails on one rank.
  Communicator own_{comm_.handle()};
  SCOTCH_Context context_{};
  SCOTCH_Dgraph graph_{};
  SCOTCH_Dgraph bound_{};
  SCOTCH_Strat strategy_{};
};

Offset sum_of(const Communicator& comm, const std::vector<Offset>& weights) {
  return comm.sum(std::int64_t{std::accumulate(weights.begin(), weights.end(), Offset{0})});
}

/// Where nothing is coupled: by weight alone, in order. Collective.
std::vector<int> owners_by_weight(const Communicator& comm, const NodeGraph& graph) {
  const Partition parts = Partition::by_nonzeros(comm, graph.nodes, graph.weights);
  std::vector<int> owners(graph.weights.size());
  const GlobalIndex begin = graph.nodes.begin(comm.rank());
  for (std::size_t i = 0; i < owners.size(); ++i) owners[i] = parts.owner(begin + static_cast<GlobalIndex>(i));
  return owners;
}

}  // namespace

void require_graph_partitioner() {}

std::vector<int> graph_owners(const Communicator& comm, const NodeGraph& graph) {
  const Offset arcs = comm.sum(std::int64_t{graph.arcs()});
  if (arcs == 0 || comm.size() == 1) return owners_by_weight(comm, graph);
  require(std::max(arcs, Offset{graph.nodes.rows()}) <= std::numeric_limits<SCOTCH_Num>::max(),
          fmt::format("partition: graph: the matrix has {} entries off the diagonal, the PT-Scotch of this build "
                      "counts to {}; partition: nonzeros has no such limit",
                      arcs, std::numeric_limits<SCOTCH_Num>::max()));
  const Offset weight = sum_of(comm, graph.weights);
  const Offset arc_weight = sum_of(comm, graph.arc_weights);
  Arrays arrays;
  comm.collectively([&] { arrays = arrays_of(graph, weight, arc_weight); });
  const std::vector<SCOTCH_Num> found = Partitioner(comm).owners(arrays, comm.size());
  return {found.begin(), found.end()};
}

}  // namespace block_eigs
