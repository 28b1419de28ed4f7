#include "solver/multigrid/aggregation/tentative.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace block_eigs::aggregation {

namespace {

/// Rows of members on their way to the ranks of their roots, and back: a message to every rank.
struct Travellers {
  std::vector<std::vector<LocalIndex>> nodes;  ///< of the sender, ascending
  std::vector<std::vector<std::int64_t>> aggregates;
  std::vector<std::vector<double>> rows;
};

/// Rows of own nodes that belong to aggregates of other ranks. `width` values a node. Not collective.
Travellers leaving(const Communicator& comm, const Aggregates& aggregates, std::size_t width,
                   const std::vector<double>& values) {
  Travellers result;
  const auto ranks = static_cast<std::size_t>(comm.size());
  result.nodes.resize(ranks);
  result.aggregates.resize(ranks);
  result.rows.resize(ranks);
  const GlobalIndex begin = aggregates.partition.begin(comm.rank());
  const GlobalIndex end = aggregates.partition.end(comm.rank());
  for (std::size_t node = 0; node < aggregates.of_node.size(); ++node) {
    const GlobalIndex aggregate = aggregates.of_node[node];
    if (aggregate < 0 || (aggregate >= begin && aggregate < end)) continue;
    const auto owner = static_cast<std::size_t>(aggregates.partition.owner(aggregate));
    const double* row = values.data() + node * width;
    result.nodes[owner].push_back(static_cast<LocalIndex>(node));
    result.aggregates[owner].push_back(aggregate);
    result.rows[owner].insert(result.rows[owner].end(), row, row + width);
  }
  return result;
}

/// Where the rows of members are, one own aggregate after the other, members in the order of their numbers.
struct Members {
  std::vector<std::size_t> offsets;
  std::vector<double*> rows;
};

/// Own nodes' rows are in `values`, those of others in `guests`. Not collective.
Members members_of(const Communicator& comm, const Aggregates& aggregates, std::size_t width,
                   std::vector<double>& values, Travellers& guests) {
  const GlobalIndex begin = aggregates.partition.begin(comm.rank());
  const GlobalIndex end = aggregates.partition.end(comm.rank());
  // Numbers ascend from rank to rank, and within each.
  const auto each = [&](const auto& visit) {
    for (std::size_t rank = 0; rank < guests.rows.size(); ++rank) {
      const bool here = rank == static_cast<std::size_t>(comm.rank());
      const std::vector<GlobalIndex>& list = here ? aggregates.of_node : guests.aggregates[rank];
      std::vector<double>& rows = here ? values : guests.rows[rank];
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i] >= begin && list[i] < end)
          visit(static_cast<std::size_t>(list[i] - begin), rows.data() + i * width);
      }
    }
  };
  Members members;
  members.offsets.assign(static_cast<std::size_t>(end - begin) + 1, 0);
  each([&](std::size_t aggregate, double*) { ++members.offsets[aggregate + 1]; });
  std::partial_sum(members.offsets.begin(), members.offsets.end(), members.offsets.begin());
  members.rows.resize(members.offsets.back());
  std::vector<std::size_t> next(members.offsets.begin(), members.offsets.end() - 1);
  each([&](std::size_t aggregate, double* row) { members.rows[next[aggregate]++] = row; });
  return members;
}

/// Gram-Schmidt, each column twice: q becomes orthonormal, r (upper triangular, row-major) with q_old = q r.
void orthonormalise(std::vector<double>& q, std::size_t modes, double* r) {
  constexpr double dependent = 1e-8;
  const std::size_t rows = q.size() / modes;
  for (std::size_t j = 0; j < modes; ++j) {
    double before = 0.0;
    for (std::size_t i = 0; i < rows; ++i) before += q[i * modes + j] * q[i * modes + j];
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t k = 0; k < j; ++k) {
        double dot = 0.0;
        for (std::size_t i = 0; i < rows; ++i) dot += q[i * modes + k] * q[i * modes + j];
        for (std::size_t i = 0; i < rows; ++i) q[i * modes + j] -= dot * q[i * modes + k];
        r[k * modes + j] += dot;
      }
    }
    double left = 0.0;
    for (std::size_t i = 0; i < rows; ++i) left += q[i * modes + j] * q[i * modes + j];
    const bool keeps = left > dependent * dependent * before;
    const double norm = keeps ? std::sqrt(left) : 0.0;
    for (std::size_t i = 0; i < rows; ++i) q[i * modes + j] = keeps ? q[i * modes + j] / norm : 0.0;
    r[j * modes + j] = norm;
  }
}

/// Makes the members' rows orthonormal, aggregate by aggregate; the triangular factors become `coarse`. Not
/// collective.
void factor(const Members& members, std::size_t width, std::size_t modes, std::vector<double>& coarse) {
  const auto count = static_cast<LocalIndex>(members.offsets.size() - 1);
  coarse.assign(static_cast<std::size_t>(count) * modes * modes, 0.0);
  on_threads([&](int part, int parts) {
    std::vector<double> q;
    for (LocalIndex c = part_begin(count, part, parts); c < part_begin(count, part + 1, parts); ++c) {
      const auto a = static_cast<std::size_t>(c);
      q.clear();
      for (std::size_t k = members.offsets[a]; k < members.offsets[a + 1]; ++k)
        q.insert(q.end(), members.rows[k], members.rows[k] + width);
      orthonormalise(q, modes, coarse.data() + a * modes * modes);
      const double* from = q.data();
      for (std::size_t k = members.offsets[a]; k < members.offsets[a + 1]; ++k, from += width)
        std::copy(from, from + width, members.rows[k]);
    }
  });
}

}  // namespace

Tentative tentative_interpolation(const Communicator& comm, const Aggregates& aggregates,
                                  const NearNullSpace& fine) {
  const auto modes = static_cast<std::size_t>(fine.modes);
  const std::size_t width = static_cast<std::size_t>(fine.unknowns_per_node) * modes;  // of a node, side by side
  Tentative result;
  Travellers away;
  Travellers guests;
  comm.collectively([&] {
    result.values = fine.vectors;
    away = leaving(comm, aggregates, width, result.values);
  });
  guests.aggregates = comm.all_to_all(away.aggregates);
  guests.rows = comm.all_to_all(away.rows);
  comm.collectively([&] {
    factor(members_of(comm, aggregates, width, result.values, guests), width, modes, result.coarse.vectors);
  });
  away.rows = comm.all_to_all(guests.rows);
  comm.collectively([&] {
    result.coarse.modes = fine.modes;
    result.coarse.unknowns_per_node = fine.modes;
    for (std::size_t node = 0; node < aggregates.of_node.size(); ++node) {
      if (aggregates.of_node[node] < 0) std::fill_n(result.values.data() + node * width, width, 0.0);
    }
    for (std::size_t rank = 0; rank < away.rows.size(); ++rank) {
      const double* from = away.rows[rank].data();
      for (const LocalIndex node : away.nodes[rank]) {
        std::copy(from, from + width, result.values.data() + static_cast<std::size_t>(node) * width);
        from += width;
      }
    }
  });
  return result;
}

}  // namespace block_eigs::aggregation
