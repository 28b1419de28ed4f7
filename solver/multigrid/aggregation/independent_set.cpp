#include "solver/multigrid/aggregation/independent_set.hpp"
#include "spmm/scatter_bits.hpp"

#include <algorithm>
#include <limits>

namespace block_eigs::aggregation {

namespace {

/// What is known of a node, in the place of its priority: above and below all of them.
constexpr std::int64_t chosen = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t passed = std::numeric_limits<std::int64_t>::min();

bool is_open(std::int64_t state) { return state != chosen && state != passed; }

/// Nodes that a thread has still to look at.
using Worklists = std::vector<std::vector<LocalIndex>>;

/// Calls visit(i) for every node of every thread's list, and keeps those it returns true for.
template <class Visit>
void sweep(Worklists& lists, const Visit& visit) {
  on_threads([&](int part, int) {
    std::vector<LocalIndex>& list = lists[static_cast<std::size_t>(part)];
    list.erase(std::remove_if(list.begin(), list.end(), [&](LocalIndex i) { return !visit(i); }), list.end());
  });
}

/// The largest of the values of i and its neighbours.
std::int64_t largest_around(const SparseRows<LocalIndex>& neighbours, const std::vector<std::int64_t>& values,
                            LocalIndex i) {
  std::int64_t most = values[static_cast<std::size_t>(i)];
  for (std::size_t k = neighbours.begin(i); k < neighbours.end(i); ++k)
    most = std::max(most, values[static_cast<std::size_t>(neighbours.columns[k])]);
  return most;
}

}  // namespace

std::int64_t priority(GlobalIndex node) {
  return static_cast<std::int64_t>(scatter_bits(static_cast<std::uint64_t>(node) + golden_step));
}

std::vector<char> independent_set(const Communicator& comm, const Nodes& nodes,
                                  const SparseRows<LocalIndex>& neighbours, const std::vector<char>& candidates) {
  std::vector<std::int64_t> state;   // of nodes, own and ghosts
  std::vector<std::int64_t> around;  // the largest state within a step
  std::vector<char> result;
  Worklists undecided;
  Worklists unsettled;  // whose `around` may still change
  comm.collectively([&] {
    state.assign(static_cast<std::size_t>(nodes.all()), passed);
    around.assign(state.size(), passed);
    result.assign(static_cast<std::size_t>(nodes.own()), 0);
    undecided.resize(static_cast<std::size_t>(omp_get_max_threads()));
    unsettled.resize(undecided.size());
    on_threads([&](int part, int parts) {
      const LocalIndex end = part_begin(nodes.own(), part + 1, parts);
      for (LocalIndex i = part_begin(nodes.own(), part, parts); i < end; ++i) {
        if (candidates[static_cast<std::size_t>(i)] == 0) continue;
        state[static_cast<std::size_t>(i)] = priority(nodes.numbers.global(i));
        undecided[static_cast<std::size_t>(part)].push_back(i);
      }
    });
    unsettled = undecided;
  });
  nodes.refresh(comm, state);
  const auto any_left = [&] {
    return comm.any(
        std::any_of(undecided.begin(), undecided.end(), [](const auto& list) { return !list.empty(); }));
  };
  while (any_left()) {
    sweep(unsettled, [&](LocalIndex i) {
      const std::int64_t most = largest_around(neighbours, state, i);
      around[static_cast<std::size_t>(i)] = most;
      return is_open(most);
    });
    nodes.refresh(comm, around);
    sweep(undecided, [&](LocalIndex i) {
      std::int64_t& own = state[static_cast<std::size_t>(i)];
      const std::int64_t most = largest_around(neighbours, around, i);
      if (most != chosen && most != own) return true;
      own = most == chosen ? passed : chosen;
      return false;
    });
    nodes.refresh(comm, state);
  }
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = state[i] == chosen ? 1 : 0;
  return result;
}

}  // namespace block_eigs::aggregation
