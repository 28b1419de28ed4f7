#include "spmm/host/algebra/aggregation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "spmm/host/algebra/row_sums.hpp"
#include "spmm/large_vectors.hpp"

namespace block_eigs::host {

namespace {

/// What is known of a node, in the place of its priority: above and below all of them.
constexpr std::int64_t chosen = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t passed = std::numeric_limits<std::int64_t>::min();

/// The largest of the values of i and its neighbours.
std::int64_t largest_around(const CsrView<double>& edges, const std::vector<std::int64_t>& values, LocalIndex i) {
  std::int64_t most = values[static_cast<std::size_t>(i)];
  for (Offset k = edges.row_offsets[i]; k < edges.row_offsets[i + 1]; ++k)
    most = std::max(most, values[static_cast<std::size_t>(edges.column_indices[k])]);
  return most;
}

/// Of the graph that the candidates make: nobody else is a neighbour. The result is a flag for each node.
std::vector<char> independent_set(const CsrView<double>& edges, const std::vector<char>& candidates) {
  std::vector<std::int64_t> state;
  std::vector<std::int64_t> around;
  resize_large(state, static_cast<std::size_t>(edges.rows));
  resize_large(around, state.size());
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < edges.rows; ++i) {
    const auto node = static_cast<std::size_t>(i);
    state[node] = candidates[node] != 0 ? aggregate_priority(i) : passed;
    around[node] = passed;
  }
  bool any_left = true;
  while (any_left) {
    any_left = false;
#pragma omp parallel for schedule(static)
    for (LocalIndex i = 0; i < edges.rows; ++i) {
      if (candidates[static_cast<std::size_t>(i)] != 0)
        around[static_cast<std::size_t>(i)] = largest_around(edges, state, i);
    }
#pragma omp parallel for schedule(static) reduction(|| : any_left)
    for (LocalIndex i = 0; i < edges.rows; ++i) {
      std::int64_t& own = state[static_cast<std::size_t>(i)];
      if (own == chosen || own == passed) continue;
      const std::int64_t most = largest_around(edges, around, i);
      if (most == chosen) {
        own = passed;
      } else if (most == own) {
        own = chosen;
      } else {
        any_left = true;
      }
    }
  }
  std::vector<char> roots(state.size());
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < state.size(); ++i) roots[i] = state[i] == chosen ? 1 : 0;
  return roots;
}

/// The aggregate that node i is coupled to the most in all, of those that its neighbours have; of equals the one
/// of the larger priority. -1 for none.
LocalIndex strongest(const CsrView<double>& edges, const std::vector<LocalIndex>& of, LocalIndex i) {
  LocalIndex best = -1;
  double most = 0.0;
  const Offset end = edges.row_offsets[i + 1];
  const auto aggregate_at = [&](Offset k) { return of[static_cast<std::size_t>(edges.column_indices[k])]; };
  for (Offset first = edges.row_offsets[i]; first < end; ++first) {
    const LocalIndex aggregate = aggregate_at(first);
    if (aggregate < 0 || aggregate == best) continue;
    double sum = 0.0;
    for (Offset k = edges.row_offsets[i]; k < end; ++k) {
      if (aggregate_at(k) == aggregate) sum += edges.values[k];
    }
    const bool of_equals = sum == most && aggregate_priority(aggregate) > aggregate_priority(best);
    if (best >= 0 && sum <= most && !of_equals) continue;
    best = aggregate;
    most = sum;
  }
  return best;
}

/// Free nodes join the aggregate that they are coupled to the most.
void join(const CsrView<double>& edges, std::vector<LocalIndex>& of) {
  std::vector<LocalIndex> before;
  copy_large(of, before);
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < edges.rows; ++i) {
    LocalIndex& own = of[static_cast<std::size_t>(i)];
    if (own < 0) own = strongest(edges, before, i);
  }
}

/// Nodes of every aggregate, ascending, one aggregate after the other.
struct Members {
  std::vector<Offset> offsets;
  std::vector<LocalIndex> nodes;
};

Members members_of(const AggregateMap& aggregates) {
  Members members;
  members.offsets.assign(static_cast<std::size_t>(aggregates.count) + 1, 0);
  const LocalIndex* of = aggregates.of_node.data();
  for (std::size_t node = 0; node < aggregates.of_node.size(); ++node) {
    if (of[node] >= 0) ++members.offsets[static_cast<std::size_t>(of[node]) + 1];
  }
  for (std::size_t a = 1; a < members.offsets.size(); ++a) members.offsets[a] += members.offsets[a - 1];
  members.nodes.resize(static_cast<std::size_t>(members.offsets.back()));
  std::vector<Offset> next(members.offsets.begin(), members.offsets.end() - 1);
  for (std::size_t node = 0; node < aggregates.of_node.size(); ++node) {
    if (of[node] < 0) continue;
    members.nodes[static_cast<std::size_t>(next[static_cast<std::size_t>(of[node])]++)] =
        static_cast<LocalIndex>(node);
  }
  return members;
}

/// Gram-Schmidt, each column twice: q, row-major [rows][modes], becomes orthonormal, r (upper triangular,
/// row-major) is such that q as it was is q r.
void orthonormalise(std::vector<double>& q, std::size_t modes, double* r) {
  constexpr double dependent = 1e-8;
  const std::size_t rows = q.size() / modes;
  const auto dot = [&](std::size_t k, std::size_t j) {
    double sum = 0.0;
    for (std::size_t i = 0; i < rows; ++i) sum += q[i * modes + k] * q[i * modes + j];
    return sum;
  };
  for (std::size_t j = 0; j < modes; ++j) {
    const double before = dot(j, j);
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t k = 0; k < j; ++k) {
        const double part = dot(k, j);
        for (std::size_t i = 0; i < rows; ++i) q[i * modes + j] -= part * q[i * modes + k];
        r[k * modes + j] += part;
      }
    }
    const double left = dot(j, j);
    const double norm = left > dependent * dependent * before ? std::sqrt(left) : 0.0;
    for (std::size_t i = 0; i < rows; ++i) q[i * modes + j] = norm > 0.0 ? q[i * modes + j] / norm : 0.0;
    r[j * modes + j] = norm;
  }
}

/// The pattern of T.
std::shared_ptr<CsrPattern> tentative_pattern(const std::shared_ptr<Device>& device,
                                              const AggregateMap& aggregates, int unknowns, int modes) {
  auto pattern = std::make_shared<CsrPattern>();
  const auto nodes = static_cast<LocalIndex>(aggregates.of_node.size());
  pattern->rows = nodes * unknowns;
  pattern->columns = aggregates.count * modes;
  pattern->row_offsets = Buffer<Offset>(device, static_cast<std::size_t>(pattern->rows) + 1);
  Offset* offsets = pattern->row_offsets.data();
  offsets[0] = 0;
  for (LocalIndex i = 0; i < pattern->rows; ++i)
    offsets[i + 1] = offsets[i] + (aggregates.of_node.data()[i / unknowns] >= 0 ? modes : 0);
  pattern->nonzeros = offsets[pattern->rows];
  pattern->column_indices = Buffer<LocalIndex>(device, static_cast<std::size_t>(pattern->nonzeros));
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < pattern->rows; ++i) {
    for (Offset k = offsets[i]; k < offsets[i + 1]; ++k)
      pattern->column_indices.data()[k] =
          aggregates.of_node.data()[i / unknowns] * modes + static_cast<LocalIndex>(k - offsets[i]);
  }
  return pattern;
}

}  // namespace

AggregateMap aggregate(const std::shared_ptr<Device>& device, const CouplingGraph& graph) {
  const CsrView<double> edges = graph.neighbours.view();
  const auto nodes = static_cast<std::size_t>(edges.rows);
  std::vector<char> candidates(nodes);
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < edges.rows; ++i)
    candidates[static_cast<std::size_t>(i)] = edges.row_offsets[i] < edges.row_offsets[i + 1] ? 1 : 0;
  const std::vector<char> roots = independent_set(edges, candidates);
  std::vector<LocalIndex> of(nodes, -1);
  AggregateMap result;
  for (LocalIndex i = 0; i < edges.rows; ++i) {
    const auto node = static_cast<std::size_t>(i);
    if (roots[node] != 0 || graph.hub.data()[i] == i) of[node] = result.count++;
  }
  for (int step = 0; step < 2; ++step) join(edges, of);
  result.of_node = Buffer<LocalIndex>(device, nodes);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < nodes; ++i) {
    const LocalIndex hub = graph.hub.data()[i];
    result.of_node.data()[i] = of[i] < 0 && hub >= 0 ? of[static_cast<std::size_t>(hub)] : of[i];
  }
  return result;
}

TentativeInterpolation tentative(const std::shared_ptr<Device>& device, const AggregateMap& aggregates,
                                 int unknowns, const double* vectors, int modes) {
  const auto width = static_cast<std::size_t>(modes);
  const std::size_t row_values = static_cast<std::size_t>(unknowns) * width;  // of one node, side by side
  const Members members = members_of(aggregates);
  auto pattern = tentative_pattern(device, aggregates, unknowns, modes);
  TentativeInterpolation result;
  result.interpolation.values = Buffer<double>(device, static_cast<std::size_t>(pattern->nonzeros));
  result.coarse = Buffer<double>(device, static_cast<std::size_t>(aggregates.count) * width * width);
  for_parts(aggregates.count, [&](LocalIndex begin, LocalIndex end) {
    std::vector<double> q;
    for (LocalIndex a = begin; a < end; ++a) {
      const auto first = static_cast<std::size_t>(members.offsets[static_cast<std::size_t>(a)]);
      const auto last = static_cast<std::size_t>(members.offsets[static_cast<std::size_t>(a) + 1]);
      q.clear();
      for (std::size_t k = first; k < last; ++k) {
        const double* from = vectors + static_cast<std::size_t>(members.nodes[k]) * row_values;
        q.insert(q.end(), from, from + row_values);
      }
      double* r = result.coarse.data() + static_cast<std::size_t>(a) * width * width;
      std::fill_n(r, width * width, 0.0);
      orthonormalise(q, width, r);
      for (std::size_t k = first; k < last; ++k)
        std::copy_n(
            q.data() + (k - first) * row_values, row_values,
            result.interpolation.values.data() +
                pattern->row_offsets
                    .data()[static_cast<std::size_t>(members.nodes[k]) * static_cast<std::size_t>(unknowns)]);
    }
  });
  result.interpolation.pattern = std::move(pattern);
  return result;
}

}  // namespace block_eigs::host
