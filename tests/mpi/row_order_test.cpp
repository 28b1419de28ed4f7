// Rows in the order that a graph suggests, and back. References: the matrix itself, dense, on every rank; cuts of
// grids that are known.
#include "io/partition/row_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "io/generate/generate.hpp"
#include "io/partition/graph_owners.hpp"
#include "io/partition/node_graph.hpp"
#include "io/partition/reordered_sources.hpp"
#include "spmm/error.hpp"

namespace block_eigs {
namespace {

using Entries = std::map<std::pair<GlobalIndex, GlobalIndex>, double>;

/// A matrix of which every rank knows all entries.
struct Whole {
  GlobalIndex rows = 0;
  Entries entries{};

  void couple(GlobalIndex i, GlobalIndex j, double value = -1.0) { entries[{i, j}] = entries[{j, i}] = value; }

  CsrRows part(const Partition& partition, int rank) const {
    CsrRows out;
    out.row_begin = partition.begin(rank);
    out.global_rows = out.global_columns = rows;
    for (GlobalIndex i = partition.begin(rank); i < partition.end(rank); ++i) {
      for (auto at = entries.lower_bound({i, 0}); at != entries.end() && at->first.first == i; ++at) {
        out.columns.push_back(at->first.second);
        out.values.push_back(at->second);
      }
      out.row_offsets.push_back(static_cast<Offset>(out.columns.size()));
    }
    return out;
  }
};

/// A grid whose points were shuffled: hardly any two neighbours have numbers that are close.
Whole shuffled_grid(GlobalIndex nx, GlobalIndex ny) {
  Whole grid{nx * ny};
  const auto name = [&](GlobalIndex x, GlobalIndex y) { return (x + nx * y) * 7919 % grid.rows; };
  for (GlobalIndex y = 0; y < ny; ++y) {
    for (GlobalIndex x = 0; x < nx; ++x) {
      grid.couple(name(x, y), name(x, y), 4.0 + static_cast<double>(x));
      if (x + 1 < nx) grid.couple(name(x, y), name(x + 1, y), -1.0 - 1e-3 * static_cast<double>(x + nx * y));
      if (y + 1 < ny) grid.couple(name(x, y), name(x, y + 1), -2.0);
    }
  }
  return grid;
}

class RowOrderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      require_graph_partitioner();
    } catch (const InputError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  Partition even(GlobalIndex rows, int unknowns = 1) const {
    std::vector<GlobalIndex> offsets = Partition::uniform(rows / unknowns, comm_.size()).offsets();
    for (GlobalIndex& offset : offsets) offset *= unknowns;
    return Partition(offsets);
  }

  RowOrder order_of(const Whole& a, const Partition& partition, int unknowns = 1) const {
    const NodeGraph graph = node_graph(comm_, partition, a.part(partition, comm_.rank()), nullptr, unknowns, 15);
    return {comm_, graph.nodes, graph_owners(comm_, graph), unknowns};
  }

  /// All rows' names in the file, in the new order, on every rank.
  std::vector<GlobalIndex> names(const RowOrder& order) const {
    std::vector<double> own(static_cast<std::size_t>(order.file().size(comm_.rank())));
    std::iota(own.begin(), own.end(), static_cast<double>(order.file().begin(comm_.rank())));
    const std::vector<double> mine = order.reordered(own, 1);
    EXPECT_EQ(mine.size(), static_cast<std::size_t>(order.partition().size(comm_.rank())));
    std::vector<GlobalIndex> all;
    for (const auto& part :
         comm_.all_to_all(std::vector<std::vector<double>>(static_cast<std::size_t>(comm_.size()), mine)))
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }

  /// The order is one, the matrix in it is the matrix, and vectors come back as they were.
  void expect_sound(const Whole& a, const RowOrder& order, int unknowns = 1) const {
    const std::vector<GlobalIndex> name = names(order);
    EXPECT_EQ(std::set<GlobalIndex>(name.begin(), name.end()).size(), static_cast<std::size_t>(a.rows));
    ASSERT_EQ(order.partition().rows(), a.rows);
    for (const GlobalIndex border : order.partition().offsets()) EXPECT_EQ(border % unknowns, 0);
    for (GlobalIndex row = 0; row < a.rows; ++row) {
      EXPECT_EQ(order.file_row(row), name[static_cast<std::size_t>(row)]);
      if (row % unknowns != 0) {
        EXPECT_EQ(name[static_cast<std::size_t>(row)], name[static_cast<std::size_t>(row - 1)] + 1);
      }
    }

    const CsrRows rows = order.reordered(a.part(order.file(), comm_.rank()));
    EXPECT_EQ(rows.row_begin, order.partition().begin(comm_.rank()));
    ASSERT_EQ(rows.rows(), order.partition().size(comm_.rank()));
    Offset expected = 0;
    for (LocalIndex i = 0; i < rows.rows(); ++i) {
      const GlobalIndex row = name[static_cast<std::size_t>(rows.row_begin + i)];
      for (Offset k = rows.row_offsets[static_cast<std::size_t>(i)];
           k < rows.row_offsets[static_cast<std::size_t>(i) + 1]; ++k) {
        const auto at = static_cast<std::size_t>(k);
        if (k > rows.row_offsets[static_cast<std::size_t>(i)]) {
          EXPECT_LT(rows.columns[at - 1], rows.columns[at]);
        }
        const auto entry = a.entries.find({row, name[static_cast<std::size_t>(rows.columns[at])]});
        ASSERT_NE(entry, a.entries.end());
        EXPECT_EQ(rows.values[at], entry->second);
      }
      expected +=
          std::count_if(a.entries.begin(), a.entries.end(), [&](const auto& e) { return e.first.first == row; });
    }
    EXPECT_EQ(rows.nonzeros(), expected);

    std::vector<float> block;
    for (GlobalIndex row = order.file().begin(comm_.rank()); row < order.file().end(comm_.rank()); ++row)
      for (int j = 0; j < 3; ++j) block.push_back(static_cast<float>(row) + 0.25F * static_cast<float>(j));
    const std::vector<double> there = order.reordered(std::vector<double>(block.begin(), block.end()), 3);
    for (std::size_t k = 0; k < there.size(); ++k) {
      const auto row = static_cast<std::size_t>(order.partition().begin(comm_.rank())) + k / 3;
      EXPECT_EQ(there[k], static_cast<double>(name[row]) + 0.25 * static_cast<double>(k % 3));
    }
    EXPECT_EQ(order.in_file_order(std::vector<float>(there.begin(), there.end()), 3), block);
  }

  void expect_sound(const Whole& a) const { expect_sound(a, order_of(a, even(a.rows))); }

  /// Rows that a rank needs of others, summed over the ranks.
  GlobalIndex ghosts(const Whole& a, const RowOrder& order) const {
    const CsrRows rows = order.reordered(a.part(order.file(), comm_.rank()));
    const GlobalIndex end = rows.row_begin + rows.rows();
    std::set<GlobalIndex> others;
    for (const GlobalIndex column : rows.columns) {
      if (column < rows.row_begin || column >= end) others.insert(column);
    }
    return comm_.sum(static_cast<std::int64_t>(others.size()));
  }

  const Communicator comm_{MPI_COMM_WORLD};
};

TEST_F(RowOrderTest, ShuffledGridIsCutWhereItIsNarrow) {
  const Whole grid = shuffled_grid(24, 60);
  const RowOrder order = order_of(grid, even(grid.rows));
  expect_sound(grid, order);
  // Cuts across the narrow side have 24 rows on either side, and there are ranks - 1 of them; twice that is
  // allowed.
  EXPECT_LE(ghosts(grid, order), GlobalIndex{96} * (comm_.size() - 1));
  const double mean = static_cast<double>(grid.rows) / comm_.size();
  EXPECT_LE(order.partition().size(comm_.rank()), 1.15 * mean);
}

TEST_F(RowOrderTest, IsTheSameEveryTime) {
  const Whole grid = shuffled_grid(30, 31);
  EXPECT_EQ(names(order_of(grid, even(grid.rows))), names(order_of(grid, even(grid.rows))));
}

TEST_F(RowOrderTest, RowsOfANodeStayTogether) {
  Whole body{360};
  for (GlobalIndex node = 0; node < 120; ++node) {
    for (const GlobalIndex other : {node, (node * 37 + 11) % 120}) {
      for (GlobalIndex u = 0; u < 3; ++u)
        body.couple(3 * node + u, 3 * other + (u + node) % 3, 1.0 + 0.5 * static_cast<double>(u));
    }
  }
  expect_sound(body, order_of(body, even(body.rows, 3), 3), 3);
}

TEST_F(RowOrderTest, PartsThatAreNotConnected) {
  Whole paths{210};
  for (GlobalIndex i = 0; i < 210; ++i) {
    paths.couple(i, i, 2.0);
    if (i + 7 < 210) paths.couple(i, i + 7);
  }
  for (GlobalIndex i = 0; i < 210; i += 30) paths.entries.erase({i, i});  // and rows without a diagonal entry
  expect_sound(paths);
}

TEST_F(RowOrderTest, RowThatCouplesWithAllOthers) {
  Whole star{301};
  for (GlobalIndex i = 0; i < 301; ++i) star.couple(i, 150, i == 150 ? 400.0 : -1.0);
  expect_sound(star);
}

TEST_F(RowOrderTest, DiagonalMatrix) {
  Whole diagonal{50};
  for (GlobalIndex i = 0; i < 50; ++i) diagonal.couple(i, i, static_cast<double>(i));
  expect_sound(diagonal);
}

TEST_F(RowOrderTest, FewerRowsThanRanks) {
  for (GlobalIndex rows = 1; rows <= 4; ++rows) {
    SCOPED_TRACE(rows);
    Whole path{rows};
    for (GlobalIndex i = 0; i < rows; ++i) path.couple(i, std::min(i + 1, rows - 1));
    expect_sound(path);
  }
}

TEST_F(RowOrderTest, RanksWithoutRowsInTheFile) {
  const Whole grid = shuffled_grid(11, 12);
  std::vector<GlobalIndex> offsets(static_cast<std::size_t>(comm_.size()) + 1, grid.rows);
  offsets[0] = 0;
  expect_sound(grid, order_of(grid, Partition(offsets)));
}

TEST_F(RowOrderTest, EntriesStoredOnOneSideCouple) {
  Whole grid = shuffled_grid(9, 20);
  Whole zeros = grid;
  for (GlobalIndex i = 0; i + 1 < grid.rows; i += 3) zeros.entries[{i, i + 1}] = 0.0;
  const Partition partition = even(grid.rows);
  const NodeGraph graph = node_graph(comm_, partition, zeros.part(partition, comm_.rank()), nullptr, 1, 15);
  std::set<std::pair<GlobalIndex, GlobalIndex>> arcs;
  for (const auto& [place, value] : zeros.entries) {
    if (place.first == place.second) continue;
    arcs.insert(place);
    arcs.insert({place.second, place.first});
  }
  EXPECT_EQ(comm_.sum(std::int64_t{graph.arcs()}), static_cast<std::int64_t>(arcs.size()));
  for (std::size_t i = 0; i + 1 < graph.offsets.size(); ++i) {
    for (Offset k = graph.offsets[i]; k < graph.offsets[i + 1]; ++k)
      EXPECT_TRUE(arcs.count({partition.begin(comm_.rank()) + static_cast<GlobalIndex>(i),
                              graph.neighbours[static_cast<std::size_t>(k)]}));
  }
  expect_sound(zeros);
}

TEST_F(RowOrderTest, GraphOfBothMatrices) {
  Whole a{40};
  Whole b{40};
  for (GlobalIndex i = 0; i < 40; ++i) {
    a.couple(i, i, 1.0);
    b.couple(i, i, 1.0);
    if (i + 1 < 40) b.couple(i, i + 1, 0.25);
  }
  const Partition partition = even(40);
  const CsrRows own_b = b.part(partition, comm_.rank());
  const NodeGraph graph = node_graph(comm_, partition, a.part(partition, comm_.rank()), &own_b, 1, 15);
  EXPECT_EQ(comm_.sum(std::int64_t{graph.arcs()}), 78);
  for (std::size_t i = 0; i < graph.weights.size(); ++i)
    EXPECT_EQ(graph.weights[i], 16 + own_b.row_offsets[i + 1] - own_b.row_offsets[i]);
}

TEST_F(RowOrderTest, SourcesDeliverTheOrderAgainAndAgain) {
  LaplacianOptions options;
  options.size = {13, 9};
  auto source = laplacian2d(comm_, options);
  const Partition file = even(source->rows());
  const CsrRows rows = source->read(file);
  const NodeGraph graph = node_graph(comm_, file, rows, nullptr, 1, 15);
  const auto order = std::make_shared<const RowOrder>(comm_, graph.nodes, graph_owners(comm_, graph), 1);
  ReorderedMatrix matrix(std::move(source), order, order->reordered(rows));
  const CsrRows first = matrix.read(order->partition());
  const CsrRows second = matrix.read(order->partition());
  EXPECT_EQ(first.columns, second.columns);
  EXPECT_EQ(first.values, second.values);
  EXPECT_EQ(first.row_offsets, second.row_offsets);
  EXPECT_EQ(matrix.rows(), 117);
}

}  // namespace
}  // namespace block_eigs
