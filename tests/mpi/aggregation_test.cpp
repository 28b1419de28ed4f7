#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "solver/multigrid/aggregation/aggregates.hpp"
#include "solver/multigrid/aggregation/fill.hpp"
#include "solver/multigrid/aggregation/independent_set.hpp"
#include "solver/multigrid/aggregation/nodes.hpp"
#include "solver/multigrid/aggregation/row_builder.hpp"
#include "solver/multigrid/aggregation/row_exchange.hpp"
#include "solver/multigrid/aggregation/tentative.hpp"
#include "spmm/parallel/communicator.hpp"

// The pieces that smoothed aggregation is made of.
namespace block_eigs::aggregation {
namespace {

TEST(Aggregation, ColumnNumbersThatNoDoubleHoldsArriveAsTheyAre) {
  const Communicator comm(MPI_COMM_WORLD);
  constexpr GlobalIndex large = (GlobalIndex{1} << 53) + 1;
  // Every rank adds one entry to the one row of every rank.
  SparseRows<GlobalIndex> part;
  std::vector<GlobalIndex> numbers;
  for (int r = 0; r < comm.size(); ++r) {
    part.columns.push_back(large + 2 * comm.rank());
    part.values.push_back(comm.rank() + 0.5);
    part.close_row();
    numbers.push_back(r);
  }
  const CsrRows rows =
      assemble(comm, Partition::uniform(comm.size(), comm.size()), GlobalIndex{1} << 60, std::move(part), numbers);
  ASSERT_EQ(rows.nonzeros(), comm.size());
  for (int r = 0; r < comm.size(); ++r) {
    EXPECT_EQ(rows.columns[static_cast<std::size_t>(r)], large + 2 * r);
    EXPECT_EQ(rows.values[static_cast<std::size_t>(r)], r + 0.5);
  }
}

TEST(Aggregation, AThreadOutOfMemoryIsAnExceptionOfTheCaller) {
  EXPECT_THROW(build_rows<LocalIndex>(1000, 1.0,
                                      [] {
                                        return [](LocalIndex i, SparseRows<LocalIndex>& out) {
                                          if (i == 777) throw std::bad_alloc();
                                          out.columns.push_back(i);
                                          out.values.push_back(1.0);
                                        };
                                      }),
               std::bad_alloc);
}

/// Tridiagonal, and row 0 coupled to every third one.
CsrRows chain_with_hub(LocalIndex size) {
  CsrRows rows;
  rows.global_rows = rows.global_columns = size;
  for (LocalIndex i = 0; i < size; ++i) {
    for (LocalIndex j = 0; j < size; ++j) {
      const bool coupled = std::abs(i - j) == 1 || (i == 0 && j % 3 == 0) || (j == 0 && i % 3 == 0);
      if (!coupled && i != j) continue;
      rows.columns.push_back(j);
      rows.values.push_back(i == j ? 4.0 : -1.0);
    }
    rows.row_offsets.push_back(static_cast<Offset>(rows.columns.size()));
  }
  return rows;
}

TEST(Aggregation, AHubStaysByItself) {
  const CsrRows rows = chain_with_hub(300);
  const Communicator self(MPI_COMM_SELF);
  const Nodes nodes = nodes_of(self, rows, Partition::uniform(300, 1), 1);
  const Aggregates aggregates = aggregate(self, nodes, strength_graph(self, rows, nodes, 0.0, 40.0));
  EXPECT_EQ(aggregates.is_hub[0], 1);
  for (std::size_t i = 1; i < 300; ++i) {
    EXPECT_EQ(aggregates.is_hub[i], 0);
    EXPECT_NE(aggregates.of_node[i], aggregates.of_node[0]);
    EXPECT_GE(aggregates.of_node[i], 0);
  }
  // Two to five in a row, and the hub.
  EXPECT_GE(aggregates.partition.rows(), 1 + 299 / 5);
  EXPECT_LE(aggregates.partition.rows(), 1 + 299 / 2);
}

/// Rows of `partition` of a random symmetric graph's Laplacian with weights, and some nodes that stand alone.
CsrRows random_graph(const Partition& partition, int rank) {
  const GlobalIndex size = partition.rows();
  const auto weight = [&](GlobalIndex i, GlobalIndex j) {
    if (i == j || i % 17 == 0 || j % 17 == 0) return 0.0;
    const auto bits = static_cast<std::uint64_t>(priority(std::min(i, j) * size + std::max(i, j)));
    return bits % 97 < 2 ? 0.5 + 1e-3 * static_cast<double>(bits % 1009) : 0.0;
  };
  CsrRows rows;
  rows.row_begin = partition.begin(rank);
  rows.global_rows = rows.global_columns = size;
  for (GlobalIndex i = partition.begin(rank); i < partition.end(rank); ++i) {
    double degree = 1e-3;
    for (GlobalIndex j = 0; j < size; ++j) degree += weight(i, j);
    for (GlobalIndex j = 0; j < size; ++j) {
      if (i != j && weight(i, j) == 0.0) continue;
      rows.columns.push_back(j);
      rows.values.push_back(i == j ? degree : -weight(i, j));
    }
    rows.row_offsets.push_back(static_cast<Offset>(rows.columns.size()));
  }
  return rows;
}

TEST(Aggregation, RootsAreThoseOfTakingNodesInOrderOfPriority) {
  const Communicator comm(MPI_COMM_WORLD);
  constexpr GlobalIndex size = 500;
  const CsrRows whole = random_graph(Partition::uniform(size, 1), 0);
  std::vector<GlobalIndex> order(size);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [](GlobalIndex a, GlobalIndex b) { return priority(a) > priority(b); });
  const auto neighbours = [&](GlobalIndex i) {
    const auto row = static_cast<std::size_t>(i);
    return std::vector<GlobalIndex>(whole.columns.begin() + whole.row_offsets[row],
                                    whole.columns.begin() + whole.row_offsets[row + 1]);
  };
  std::vector<char> expected(size, 0);
  std::vector<char> near(size, 0);  // a root lies within two steps
  for (const GlobalIndex i : order) {
    if (near[static_cast<std::size_t>(i)] != 0 || neighbours(i).size() < 2) continue;
    expected[static_cast<std::size_t>(i)] = 1;
    for (const GlobalIndex j : neighbours(i)) {
      for (const GlobalIndex k : neighbours(j)) near[static_cast<std::size_t>(k)] = 1;
    }
  }
  const Partition partition = Partition::uniform(size, comm.size());
  const CsrRows rows = random_graph(partition, comm.rank());
  const Nodes nodes = nodes_of(comm, rows, partition, 1);
  const StrengthGraph graph = strength_graph(comm, rows, nodes, 0.0, 1e9);
  std::vector<char> candidates;
  for (LocalIndex i = 0; i < nodes.own(); ++i)
    candidates.push_back(graph.neighbours.begin(i) < graph.neighbours.end(i) ? 1 : 0);
  const std::vector<char> found = independent_set(comm, nodes, graph.neighbours, candidates);
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(found[i], expected[static_cast<std::size_t>(rows.row_begin) + i]) << rows.row_begin << " + " << i;
}

TEST(Aggregation, AggregatesAreTheSameOnAnyNumberOfRanks) {
  const Communicator comm(MPI_COMM_WORLD);
  const Communicator self(MPI_COMM_SELF);
  for (const int unknowns : {1, 3}) {
    const auto made_by = [&](const Communicator& ranks, std::vector<double>& values) {
      std::vector<GlobalIndex> offsets = Partition::uniform(600 / unknowns, ranks.size()).offsets();
      for (GlobalIndex& offset : offsets) offset *= unknowns;
      const Partition partition(std::move(offsets));
      const CsrRows rows = random_graph(partition, ranks.rank());
      const Nodes nodes = nodes_of(ranks, rows, partition, unknowns);
      Aggregates aggregates = aggregate(ranks, nodes, strength_graph(ranks, rows, nodes, 0.05, 1e9));
      NearNullSpace space{{}, 2, unknowns};
      for (GlobalIndex i = partition.begin(ranks.rank()); i < partition.end(ranks.rank()); ++i)
        space.vectors.insert(space.vectors.end(), {1.0, static_cast<double>(i)});
      values = tentative_interpolation(ranks, aggregates, space).values;
      return aggregates;
    };
    const std::ptrdiff_t width = std::ptrdiff_t{2} * unknowns;  // of a node
    std::vector<double> whole_values;
    std::vector<double> values;
    const Aggregates whole = made_by(self, whole_values);
    const Aggregates part = made_by(comm, values);
    EXPECT_EQ(part.partition.rows(), whole.partition.rows());
    EXPECT_LT(whole.partition.rows(), 300 / unknowns);
    const std::vector<GlobalIndex> offsets = Partition::uniform(600 / unknowns, comm.size()).offsets();
    const auto first = static_cast<std::ptrdiff_t>(offsets[static_cast<std::size_t>(comm.rank())]);
    const auto last = static_cast<std::ptrdiff_t>(offsets[static_cast<std::size_t>(comm.rank()) + 1]);
    EXPECT_EQ(part.of_node, std::vector(whole.of_node.begin() + first, whole.of_node.begin() + last));
    // To the last bit.
    EXPECT_EQ(values, std::vector(whole_values.begin() + width * first, whole_values.begin() + width * last));
  }
}

TEST(Aggregation, FillOfFewRowsIsCounted) {
  // Piecewise constant P for pairs of a chain of 12: P^T A P is a chain of 6.
  CsrRows a;
  a.global_rows = a.global_columns = 12;
  SparseRows<LocalIndex> p;
  for (LocalIndex i = 0; i < 12; ++i) {
    for (LocalIndex j = std::max(0, i - 1); j <= std::min(11, i + 1); ++j) {
      a.columns.push_back(j);
      a.values.push_back(1.0);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.columns.size()));
    p.columns.push_back(i / 2);
    p.values.push_back(1.0);
    p.close_row();
  }
  const Fill fill = estimated_fill(a, ColumnNumbers(0, 12, {}), p, ColumnNumbers(0, 6, {}), {});
  EXPECT_EQ(fill.own, 16.0);
  EXPECT_EQ(fill.others, 0.0);
}

}  // namespace
}  // namespace block_eigs::aggregation
