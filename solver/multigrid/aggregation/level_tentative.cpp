#include "solver/multigrid/aggregation/level_tentative.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace block_eigs::aggregation {

namespace {

/// Nodes of other ranks that belong to own aggregates, with their rows of the near-null space.
struct Guests {
  std::vector<GlobalIndex> nodes;
  std::vector<LocalIndex> aggregates;  ///< own ones, numbered from 0
  std::vector<double> rows;
};

/// `count` rows of `width` values, those that `list` has of `from`, in host memory. Not collective.
std::vector<double> gathered(const RowMoving& by, const Buffer<double>& from, LocalIndex width,
                             const std::vector<LocalIndex>& list) {
  const auto rows = static_cast<LocalIndex>(list.size());
  std::vector<double> result(list.size() * static_cast<std::size_t>(width));
  if (rows == 0) return result;
  const auto all = static_cast<LocalIndex>(from.size() / static_cast<std::size_t>(width));
  Buffer<LocalIndex> places(by.context.device, list.size());
  Buffer<double> packed(by.context.device, result.size());
  places.upload(list.data());
  by.context.kernels->gather_rows({from.data(), all, width, width}, places.data(),
                                  {packed.data(), rows, width, width}, Queue::compute);
  packed.download(result.data());
  return result;
}

/// Collective.
Guests guests_of(const RowMoving& by, const AggregateMap& map, const ModesOfRows& of, GlobalIndex first_node,
                 const Partition& coarse) {
  const Communicator& comm = by.comm();
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::vector<std::int64_t>> places(ranks);  // of each its node and its aggregate
  std::vector<std::vector<double>> rows(ranks);
  comm.collectively([&] {
    const auto width = static_cast<std::ptrdiff_t>(of.unknowns) * of.modes;
    const std::vector<double> values = gathered(by, of.vectors, static_cast<LocalIndex>(width), map.away);
    for (std::size_t i = 0; i < map.away.size(); ++i) {
      const auto owner = static_cast<std::size_t>(coarse.owner(map.away_aggregates[i] * of.modes));
      places[owner].insert(places[owner].end(), {first_node + map.away[i], map.away_aggregates[i]});
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(i) * width;
      rows[owner].insert(rows[owner].end(), first, first + width);
    }
  });
  places = comm.all_to_all(places);
  rows = comm.all_to_all(rows);
  Guests guests;
  comm.collectively([&] {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for (std::size_t at = 0; at < places[rank].size(); at += 2) {
        guests.nodes.push_back(places[rank][at]);
        guests.aggregates.push_back(static_cast<LocalIndex>(places[rank][at + 1] - map.first));
      }
      guests.rows.insert(guests.rows.end(), rows[rank].begin(), rows[rank].end());
    }
  });
  return guests;
}

/// `values`, and behind them `more` of host memory. Not collective.
template <class T>
Buffer<T> appended(const RowMoving& by, const Buffer<T>& values, const std::vector<T>& more) {
  Device& device = *by.context.device;
  Buffer<T> result(by.context.device, values.size() + more.size());
  if (values.size() > 0)
    device.copy_within(result.data(), values.data(), values.size() * sizeof(T), Queue::compute);
  if (!more.empty())
    device.copy_to_device(result.data() + values.size(), more.data(), more.size() * sizeof(T), Queue::compute);
  device.synchronize(Queue::compute);
  return result;
}

}  // namespace

TentativeRows tentative_rows(const RowMoving& by, AggregateMap map, const ModesOfRows& of, const Partition& rows,
                             const Partition& coarse) {
  const Communicator& comm = by.comm();
  const int rank = comm.rank();
  const GlobalIndex first_node = rows.begin(rank) / of.unknowns;
  TentativeInterpolation made;
  std::vector<GlobalIndex> others;
  if (comm.size() == 1) {
    comm.collectively([&] { made = by.algebra->tentative(map, of.unknowns, of.vectors, of.modes); });
  } else {
    const Guests guests = guests_of(by, map, of, first_node, coarse);
    comm.collectively([&] {
      map.of_node = appended(by, map.of_node, guests.aggregates);
      made = by.algebra->tentative(map, of.unknowns, appended(by, of.vectors, guests.rows), of.modes);
      for (const GlobalIndex node : guests.nodes) {
        for (int u = 0; u < of.unknowns; ++u) others.push_back(node * of.unknowns + u);
      }
    });
  }
  LocalRows part{std::move(made.interpolation), {coarse.begin(rank), coarse.size(rank), {}}};
  return {assembled(by, std::move(part), others, rows), std::move(made.coarse)};
}

}  // namespace block_eigs::aggregation
