#include "apps/journey/lone_pairs.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "apps/journey/pair_order.hpp"

namespace block_eigs {

namespace {

/// Where the constraints are zero; the rows that they reach are other problems' rows again.
template <class T>
LoneRows untouched(const LoneRows& lone, const DenseBlock<T>& constraints) {
  if (constraints.cols() == 0 || lone.rows.empty()) return lone;
  const std::vector<T> entries = constraints.to_host();
  const auto width = static_cast<std::size_t>(constraints.cols());
  LoneRows result;
  result.lower = lone.lower;
  result.upper = lone.upper;
  for (std::size_t k = 0; k < lone.rows.size(); ++k) {
    const auto begin =
        entries.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(lone.rows[k]) * width);
    if (std::any_of(begin, begin + constraints.cols(), [](T entry) { return entry != T{0}; })) {
      result.lower = std::min(result.lower, lone.values[k]);
      result.upper = std::max(result.upper, lone.values[k]);
      continue;
    }
    result.rows.push_back(lone.rows[k]);
    result.values.push_back(lone.values[k]);
    result.lengths.push_back(lone.lengths[k]);
  }
  return result;
}

/// The first pairs of all ranks. Collective.
LonePairs first_pairs(const Communicator& comm, const LoneRows& lone, GlobalIndex first_row, int pairs,
                      Which which) {
  std::vector<double> own;
  std::vector<std::size_t> order = positions_in_order(lone.values, which);
  order.resize(std::min(order.size(), static_cast<std::size_t>(pairs)));
  for (const std::size_t k : order) {
    own.insert(own.end(), {lone.values[k], static_cast<double>(first_row + lone.rows[k]), lone.lengths[k]});
  }
  LonePairs all;
  std::vector<double> rows;
  std::vector<double> lengths;
  for (const std::vector<double>& part :
       comm.all_to_all(std::vector<std::vector<double>>(static_cast<std::size_t>(comm.size()), own))) {
    for (std::size_t k = 0; k < part.size(); k += 3) {
      all.values.push_back(part[k]);
      rows.push_back(part[k + 1]);
      lengths.push_back(part[k + 2]);
    }
  }
  order = positions_in_order(all.values, which);
  order.resize(std::min(order.size(), static_cast<std::size_t>(pairs)));
  const std::vector<double> values = std::exchange(all.values, {});
  for (const std::size_t k : order) {
    all.values.push_back(values[k]);
    all.rows.push_back(static_cast<GlobalIndex>(rows[k]));
    all.lengths.push_back(lengths[k]);
  }
  return all;
}

/// How many of them come before all eigenvalues of the other rows. With B those are between the bounds times
/// factors that are positive, of which nothing is known but that.
int certainly_first(const LonePairs& lone, Which which, double lower, double upper, bool with_mass) {
  if (with_mass) {
    lower = lower >= 0.0 ? 0.0 : -std::numeric_limits<double>::infinity();
    upper = upper <= 0.0 ? 0.0 : std::numeric_limits<double>::infinity();
  }
  return static_cast<int>(std::count_if(lone.values.begin(), lone.values.end(), [&](double value) {
    return which == Which::smallest ? value <= lower : value >= upper;
  }));
}

/// A pair of the merged result: one that was found, or that of a row.
struct Place {
  bool alone = false;
  std::size_t index = 0;
  double value = 0.0;
};

/// The pairs of the merged result, in order.
template <class T>
std::vector<Place> merged(const LonePairs& lone, Which which, const EigenResult<T>& result) {
  std::vector<Place> places;
  int open = lone.others;
  for (std::size_t j = 0; j < result.eigenvalues.size(); ++j) {
    if (result.outcomes[j] == Outcome::not_converged) {
      places.push_back({false, j, result.eigenvalues[j]});
    } else {
      --open;
    }
  }
  std::vector<Place> known;
  for (std::size_t j = 0; j < result.eigenvalues.size(); ++j) {
    if (result.outcomes[j] != Outcome::not_converged) known.push_back({false, j, result.eigenvalues[j]});
  }
  for (std::size_t k = 0; k < lone.values.size(); ++k) known.push_back({true, k, lone.values[k]});
  const auto before = [&](const Place& a, const Place& b) {
    return which == Which::smallest ? a.value < b.value : a.value > b.value;
  };
  std::stable_sort(known.begin(), known.end(), before);
  // What was not even begun is missing in the result too.
  known.resize(std::min(known.size(), static_cast<std::size_t>(std::max(lone.wanted - open, 0))));
  places.insert(places.end(), known.begin(), known.end());
  std::stable_sort(places.begin(), places.end(), before);
  return places;
}

std::vector<double> of_places(const std::vector<Place>& places, const std::vector<double>& found, bool values) {
  std::vector<double> result;
  for (const Place& place : places) {
    if (place.alone) {
      result.push_back(values ? place.value : 0.0);
    } else {
      result.push_back(place.index < found.size() ? found[place.index] : std::numeric_limits<double>::quiet_NaN());
    }
  }
  return result;
}

template <class T>
DenseBlock<T> vectors_of_places(BlockSpace<T>& space, const LonePairs& lone, const std::vector<Place>& places,
                                const DenseBlock<T>& found) {
  DenseBlock<T> vectors = space.make_block(static_cast<LocalIndex>(places.size()));
  DenseBlock<T> unit = space.make_block(1);
  std::vector<T> entries(static_cast<std::size_t>(space.local_rows()), T{0});
  for (std::size_t j = 0; j < places.size(); ++j) {
    const Place& place = places[j];
    const BlockView<T> to = vectors.columns(static_cast<LocalIndex>(j), 1);
    if (!place.alone) {
      space.copy(found.columns(static_cast<LocalIndex>(place.index), 1), to);
      continue;
    }
    const GlobalIndex row = lone.rows[place.index] - space.first_row();
    const bool own = row >= 0 && row < space.local_rows();
    if (own) entries[static_cast<std::size_t>(row)] = static_cast<T>(1.0 / lone.lengths[place.index]);
    unit.from_host(entries.data());
    if (own) entries[static_cast<std::size_t>(row)] = T{0};
    space.copy(unit.view(), to);
  }
  return vectors;
}

}  // namespace

int pairs_to_hold_for(const EigensolverConfig& config) {
  return config.options.which == Which::smallest && !config.constraints ? config.options.pairs : 0;
}

template <class T>
LonePairs take_out_lone_rows(BlockSpace<T>& space, Problem<T>& problem, const EigensolverConfig& config,
                             const DenseBlock<T>& constraints) {
  const LobpcgOptions& options = config.options;
  LoneRows lone = std::exchange(problem.lone, {});
  LonePairs pairs;
  pairs.others = options.pairs;
  if (solves_densely(options, space.dimension(), constraints.cols()) && !problem.held.any()) return pairs;
  lone = untouched(lone, constraints);
  const Communicator& comm = space.comm();
  const std::int64_t count = comm.sum(static_cast<std::int64_t>(lone.rows.size()));
  if (count == 0) return pairs;
  LoneRows with_penalties = lone;
  put_penalties(problem.held, with_penalties);
  pairs = first_pairs(comm, with_penalties, space.first_row(), options.pairs, options.which);
  pairs.wanted = options.pairs;
  pairs.rows_of_all = count;
  pairs.held = std::min(count, static_cast<std::int64_t>(problem.held.all.size()));
  space.leave_out(lone.rows);
  const int first =
      certainly_first(pairs, options.which, -comm.max(-lone.lower), comm.max(lone.upper), problem.b != nullptr);
  const GlobalIndex room = std::max<GlobalIndex>(space.dimension() - constraints.cols(), 0);
  pairs.others = static_cast<int>(std::min<GlobalIndex>(options.pairs - first, room));
  problem.lone = std::move(lone);
  return pairs;
}

RunConfig for_others(RunConfig config, const LonePairs& lone) {
  if (lone.rows_of_all == 0) return config;
  EigensolverConfig& solver = config.eigensolver;
  solver.options.pairs = lone.others;
  if (lone.others > 0) return config;
  solver.preconditioner = {};
  solver.preconditioner.type = PreconditionerType::none;
  solver.inner_precision = Precision::float64;
  return config;
}

std::string description(const LonePairs& lone) {
  const std::int64_t rows = lone.rows_of_all - lone.held;
  if (rows == 0) return "";
  return fmt::format("{} {} alone: {} known", rows, rows == 1 ? "row stands" : "rows stand",
                     rows == 1 ? "its eigenpair is" : "their eigenpairs are");
}

template <class T>
void add_lone_pairs(BlockSpace<T>& space, const LonePairs& lone, Which which, EigenResult<T>& result) {
  if (lone.rows_of_all == 0) return;
  const std::vector<Place> places = merged(lone, which, result);
  result.eigenvectors = vectors_of_places(space, lone, places, result.eigenvectors);
  result.eigenvalues = of_places(places, result.eigenvalues, true);
  result.residual_norms = of_places(places, result.residual_norms, false);
  result.error_bounds = of_places(places, result.error_bounds, false);
  const std::vector<Outcome> found = std::exchange(result.outcomes, {});
  for (const Place& place : places)
    result.outcomes.push_back(place.alone ? Outcome::converged : found[place.index]);
  for (LobpcgIteration& entry : result.history) {
    entry.eigenvalues = of_places(places, entry.eigenvalues, true);
    entry.residual_norms = of_places(places, entry.residual_norms, false);
  }
}

template LonePairs take_out_lone_rows(BlockSpace<float>&, Problem<float>&, const EigensolverConfig&,
                                      const DenseBlock<float>&);
template LonePairs take_out_lone_rows(BlockSpace<double>&, Problem<double>&, const EigensolverConfig&,
                                      const DenseBlock<double>&);
template void add_lone_pairs(BlockSpace<float>&, const LonePairs&, Which, EigenResult<float>&);
template void add_lone_pairs(BlockSpace<double>&, const LonePairs&, Which, EigenResult<double>&);

}  // namespace block_eigs
