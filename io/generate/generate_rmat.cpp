#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "io/generate/generate.hpp"
#include "io/generate/generate_draws.hpp"
#include "io/generate/generate_rows.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

// Edges that a rank draws and sends in one go: bounds the memory of the messages.
constexpr GlobalIndex edges_at_once = GlobalIndex{1} << 21;

struct Edge {
  GlobalIndex from = 0;
  GlobalIndex to = 0;
};

Edge draw_edge(const RmatOptions& options, const std::array<double, 3>& cumulative, GlobalIndex number) {
  Edge edge;
  for (int level = 0; level < options.scale; ++level) {
    const double u = draw_unit(options.seed, number, level);
    const bool down = u >= cumulative[1];
    const bool right = down ? u >= cumulative[2] : u >= cumulative[0];
    edge.from = 2 * edge.from + (down ? 1 : 0);
    edge.to = 2 * edge.to + (right ? 1 : 0);
  }
  return edge;
}

// Draws edges first .. last - 1, each into the message for the owner of its row.
std::vector<std::vector<std::int64_t>> draw_messages(const RmatOptions& options, const Partition& partition,
                                                     GlobalIndex first, GlobalIndex last) {
  std::vector<std::vector<std::int64_t>> messages(static_cast<std::size_t>(partition.parts()));
  const auto& p = options.probabilities;
  const std::array<double, 3> cumulative{p[0], p[0] + p[1], p[0] + p[1] + p[2]};
  const auto send = [&](GlobalIndex from, GlobalIndex to) {
    auto& message = messages[static_cast<std::size_t>(partition.owner(from))];
    message.push_back(from);
    message.push_back(to);
  };
  for (GlobalIndex number = first; number < last; ++number) {
    const Edge edge = draw_edge(options, cumulative, number);
    if (edge.from == edge.to) continue;
    send(edge.from, edge.to);
    if (options.symmetric) send(edge.to, edge.from);
  }
  return messages;
}

// The edges that start at own vertices, every rank drawing an equal share. Collective.
std::vector<Edge> own_edges(const Communicator& comm, const RmatOptions& options, const Partition& partition) {
  const GlobalIndex edges = static_cast<GlobalIndex>(options.edge_factor) << options.scale;
  std::vector<Edge> own;
  for (GlobalIndex round = 0; round < edges; round += edges_at_once * comm.size()) {
    const GlobalIndex first = std::min(edges, round + edges_at_once * comm.rank());
    const GlobalIndex last = std::min(edges, first + edges_at_once);
    std::vector<std::vector<std::int64_t>> messages;
    comm.collectively([&] { messages = draw_messages(options, partition, first, last); });
    messages = comm.all_to_all(messages);
    comm.collectively([&] {
      for (const auto& message : messages) {
        for (std::size_t k = 0; k < message.size(); k += 2) own.push_back({message[k], message[k + 1]});
      }
    });
  }
  return own;
}

// Adjacency rows with all entries 1, columns ascending, repeated edges once.
void assemble_rows(const std::vector<Edge>& edges, LocalIndex rows, CsrRows& out) {
  std::vector<Offset> start(static_cast<std::size_t>(rows) + 1, 0);
  for (const Edge& edge : edges) ++start[static_cast<std::size_t>(edge.from - out.row_begin) + 1];
  for (std::size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
  std::vector<GlobalIndex> columns(edges.size());
  std::vector<Offset> next(start.begin(), start.end() - 1);
  for (const Edge& edge : edges) {
    columns[static_cast<std::size_t>(next[static_cast<std::size_t>(edge.from - out.row_begin)]++)] = edge.to;
  }
  auto kept = columns.begin();
  for (std::size_t i = 0; i + 1 < start.size(); ++i) {
    const auto begin = columns.begin() + start[i];
    const auto end = columns.begin() + start[i + 1];
    std::sort(begin, end);
    for (auto column = begin; column != end; ++column) {
      if (column == begin || *column != kept[-1]) *kept++ = *column;
    }
    out.row_offsets.push_back(kept - columns.begin());
  }
  columns.erase(kept, columns.end());
  out.columns = std::move(columns);
  out.values.assign(out.columns.size(), 1.0);
}

// Degrees minus adjacency, from adjacency rows without a diagonal.
CsrRows laplacian_of(const CsrRows& graph) {
  CsrRows out;
  out.row_begin = graph.row_begin;
  out.global_rows = graph.global_rows;
  out.global_columns = graph.global_columns;
  out.row_offsets.reserve(graph.row_offsets.size());
  out.columns.reserve(graph.columns.size() + static_cast<std::size_t>(graph.rows()));
  for (LocalIndex i = 0; i < graph.rows(); ++i) {
    const GlobalIndex row = graph.row_begin + i;
    const auto begin = graph.columns.begin() + graph.row_offsets[static_cast<std::size_t>(i)];
    const auto end = graph.columns.begin() + graph.row_offsets[static_cast<std::size_t>(i) + 1];
    const auto after = std::lower_bound(begin, end, row);
    out.columns.insert(out.columns.end(), begin, after);
    const std::size_t diagonal = out.columns.size();
    out.columns.push_back(row);
    out.columns.insert(out.columns.end(), after, end);
    out.values.resize(out.columns.size(), -1.0);
    out.values[diagonal] = static_cast<double>(end - begin);
    out.row_offsets.push_back(static_cast<Offset>(out.columns.size()));
  }
  return out;
}

void check(const std::string& name, const RmatOptions& options) {
  require(options.scale >= 1 && options.scale <= 40,
          fmt::format("{}: scale is {}, it must be 1 to 40", name, options.scale));
  require(options.edge_factor >= 1 && options.edge_factor <= (1 << 20),
          fmt::format("{}: edge_factor is {}, it must be 1 to 2^20", name, options.edge_factor));
  double sum = 0.0;
  bool valid = true;
  for (const double p : options.probabilities) {
    valid = valid && p >= 0.0;
    sum += p;
  }
  require(valid && std::abs(sum - 1.0) <= 1e-9,
          fmt::format("{}: probabilities {} must not be negative and must add up to 1, not {}", name,
                      fmt::join(options.probabilities, ", "), sum));
}

std::unique_ptr<MatrixSource> graph_matrix(const Communicator& comm, const std::string& name,
                                           const RmatOptions& options, bool laplacian) {
  check(name, options);
  GeneratedShape shape{GlobalIndex{1} << options.scale,
                       fmt::format("{} scale {}, edge factor {}, probabilities {}, seed {}{}", name, options.scale,
                                   options.edge_factor, fmt::join(options.probabilities, " "), options.seed,
                                   options.symmetric ? ", symmetric" : ""),
                       true};
  return generated_matrix(comm, std::move(shape),
                          [comm, options, laplacian](const Partition& partition, int rank, CsrRows& out) {
                            const std::vector<Edge> edges = own_edges(comm, options, partition);
                            comm.collectively([&] {
                              assemble_rows(edges, partition.size(rank), out);
                              if (laplacian) out = laplacian_of(out);
                            });
                          });
}

}  // namespace

std::unique_ptr<MatrixSource> rmat(const Communicator& comm, const RmatOptions& options) {
  return graph_matrix(comm, "rmat", options, false);
}

std::unique_ptr<MatrixSource> graph_laplacian(const Communicator& comm, const RmatOptions& options) {
  require(options.symmetric, "graph_laplacian: symmetric is false, the Laplacian is that of a symmetric graph");
  return graph_matrix(comm, "graph_laplacian", options, true);
}

}  // namespace block_eigs
