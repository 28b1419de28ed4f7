#include "apps/journey/proof_inertia.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/input/direct.hpp"
#include "apps/input/shift_search.hpp"
#include "apps/journey/inertia_count.hpp"
#include "apps/journey/proof_pencils.hpp"
#include "apps/journey/scaled_units.hpp"
#include "apps/report/text.hpp"

namespace block_eigs {

namespace {

/// A gap between clusters of found values.
struct Gap {
  int found = 0;  ///< pairs before it
  double middle = 0.0;
};

/// One before the first value, at `first`, and those wider than `apart` among the values, which are in order.
std::vector<Gap> gaps_between(const std::vector<double>& values, double first, double apart) {
  std::vector<Gap> gaps = {{0, first}};
  for (std::size_t j = 1; j < values.size(); ++j) {
    if (std::abs(values[j] - values[j - 1]) > apart)
      gaps.push_back({static_cast<int>(j), 0.5 * (values[j - 1] + values[j])});
  }
  return gaps;
}

/// Where the first of the missing pairs is, by bisection over `gaps`, of which the one after the last,
/// `end`, is known to have some before it: as the number of those can only grow from gap to gap. Collective.
void locate(const InertiaCount& count, const std::vector<Gap>& gaps, double end, Proof& proof) {
  std::size_t whole = 0;  // nothing is missing before gaps[whole - 1]
  std::size_t lacking = gaps.size();
  while (whole < lacking) {
    const std::size_t at = whole + (lacking - whole) / 2;
    const bool complete = count.wanted_side(gaps[at].middle).least <= gaps[at].found;
    (complete ? whole : lacking) = complete ? at + 1 : at;
  }
  proof.missing_to = lacking < gaps.size() ? gaps[lacking].middle : end;
  proof.missing_from = whole > 0 ? gaps[whole - 1].middle : std::numeric_limits<double>::quiet_NaN();
}

/// A count and where it was made.
struct CountAt {
  double shift = 0.0;
  Counted counted{};
  bool decides = false;  ///< whether there are more than were found before it
};

/// How far before a cluster to count.
struct Distances {
  double nearest = 0.0;
  double farthest = 0.0;
  double trusted = 0.0;  ///< rounding errors of factors are smaller, even if they are larger than they should be
};

/// Right before a cluster that begins with `first`, behind `found` other values: what is missing farther from it
/// must not pass for a part of it. Farther from it where zero pivots leave open whether they belong to the
/// cluster, where factors outgrow what was foreseen, or negative ones may be rounding errors of the cluster's:
/// more of them than were found must stay so. Collective; throws as InertiaCount::wanted_side.
CountAt count_before(const InertiaCount& count, double first, double outwards, int found,
                     const Distances& distances) {
  constexpr double growth = 8.0;
  for (double distance = distances.nearest;; distance = std::min(growth * distance, distances.farthest)) {
    const double sigma = first - outwards * distance;
    const bool last = !(distance < distances.farthest);
    const std::optional<Counted> counted =
        last ? std::optional(count.wanted_side(sigma)) : count.wanted_side_as_foreseen(sigma);
    const bool complete = counted && counted->most <= found;
    const bool lacking = counted && counted->least > found && (last || distance >= distances.trusted);
    if (complete || lacking || last) return {sigma, *counted, complete || lacking};
  }
}

/// How far beyond the last value to count, in units of the solve.
struct Margins {
  double rounding = 0.0;   ///< the j-th eigenvalue is not behind the j-th Ritz value, but for this
  double residuals = 0.0;  ///< values are known within this
};

template <class T>
Margins margins_of(const SolveSetting<T>& setting, const EigenResult<T>& result, const InertiaCount& count) {
  const ProbeOperators<T> operators = probe_operators(setting, result);
  FoundPairs<T> found = found_pairs(setting, result);
  const double residuals = known_within(setting.space, operators, found);
  const std::vector<double> none(result.residual_norms.size(), 0.0);
  const double rounding = known_within<T>(setting.space, operators,
                                          {found.which, found.values, none, found.vectors, found.constraints});
  const auto positive = [](double margin) { return margin > 0.0 ? margin : ShiftSearch::rounding(0.0); };
  Margins margins{positive(rounding), positive(residuals)};
  if (!setting.problem.b) return margins;
  const double with_mass = count.rounding(result.eigenvalues.back(), setting.problem.b->diagonal());
  return {std::max(margins.rounding, with_mass), std::max(margins.residuals, with_mass)};
}

std::string eigenvalues(std::int64_t count) {
  return fmt::format("{} eigenvalue{}", count, count == 1 ? "" : "s");
}

/// Of what the proof has counted, where so many were found there, the nearest of all found values so far from its
/// shift.
std::string counted_statement(const Proof& proof, Which which, int found, double nearest) {
  const char* side = which == Which::largest ? "above" : "below";
  const std::string shift = text_apart(proof.shift, nearest);
  if (proof.counted < found) {
    return fmt::format(
        "inertia, only {} {} {}, but {} found: the factorisation or the residuals are less "
        "accurate than they seem",
        eigenvalues(proof.counted), side, shift, found);
  }
  return fmt::format("inertia, {} {} {}, {} found: none missed", eigenvalues(proof.counted), side, shift, found);
}

/// What the statement says of the last value where it belongs to a cluster, of `counted` at least, of which
/// `wanted` were asked for; `extent` is what the found values extend over.
void add_cluster(std::int64_t counted, double within, int wanted, double extent, Proof& proof) {
  const std::string place =
      fmt::format("at least {} within {:.1e} of {}", counted, within, proof.counted == 0 ? "one another" : "it");
  if (proof.counted > 0) {
    proof.statement += fmt::format("; the last value has {}, of which {} {} asked for", place, wanted,
                                   wanted == 1 ? "was" : "were");
    return;
  }
  proof.statement = fmt::format(
      "inertia, none before those that were found, which are {} of {}: none of these is told from another, {}",
      wanted, place,
      within > extent
          ? fmt::format("nor from zero, and any may come first; those found extend over {:.1e}", extent)
          : "and any may come first");
}

/// Where `found` pairs lie no farther from each other, and from more than these, than they are known.
std::string indistinct_statement(const Proof& proof, Which which, int found, double within, double reach) {
  return fmt::format(
      "inertia, next to nothing: {} {} {:.10g}, {} found, which are known within {:.1e} and extend "
      "over {:.1e}",
      eigenvalues(proof.counted), which == Which::largest ? "above" : "below", proof.shift, found, within, reach);
}

/// By the ways of a probe, which go farther than one would that has nothing to look for.
template <class T>
DenseBlock<T> vectors_of_missed(const SolveSetting<T>& setting, const EigenResult<T>& result, int round,
                                Proof& proof) {
  ProbeResult<T> elsewhere = look_in_other_pencils(setting, result, round, proof);
  if (elsewhere.missed.cols() > 0) return std::move(elsewhere.missed);
  constexpr int filter_degree = 400;
  constexpr int iterations = 40;
  const ProbeOperators<T> operators = probe_operators(setting, result);
  const bool plain = operators.b == nullptr && operators.preconditioner == nullptr;
  return std::move(probe_result(setting, result, plain ? filter_degree : iterations, false, round).missed);
}

/// Where no more than what was found, or what cannot be told from it, is to be seen there.
template <class T>
CountAt count_behind(const EigenResult<T>& result, const InertiaCount& count, double outwards,
                     const Margins& margins) {
  const auto pairs = static_cast<std::int64_t>(result.eigenvalues.size());
  // Next to a value of high multiplicity factors may come to be full, and farther from it not.
  const double nearest = result.eigenvalues.back() + outwards * margins.rounding;
  const std::optional<Counted> next_to = count.wanted_side_as_foreseen(nearest);
  const bool settled = next_to && next_to->most >= pairs;
  if (settled) return {nearest, *next_to, next_to->most <= pairs};
  // Fewer than were found are rounding errors of a value of high multiplicity.
  constexpr double growth = 8.0;
  const double farthest = growth * growth * margins.residuals;
  for (double distance = margins.residuals;; distance *= growth) {
    const double farther = result.eigenvalues.back() + outwards * distance;
    const Counted counted = count.wanted_side(farther);
    if (counted.most >= pairs || distance >= farthest) return {farther, counted, counted.most <= pairs};
  }
}

/// Of what is before the last value's cluster, where more were counted behind it than were found.
template <class T>
Finding<T> compare_before_cluster(const SolveSetting<T>& setting, const EigenResult<T>& result,
                                  const InertiaCount& count, const Margins& margins, const CountAt& behind,
                                  int round, Proof& proof) {
  // By so much more than they are taken for rounding errors of factors may be larger.
  constexpr double much = 64.0;
  constexpr double very_much = 4096.0;
  const std::vector<double>& values = result.eigenvalues;
  const auto pairs = static_cast<int>(values.size());
  const Which which = setting.config.options.which;
  const double outwards = which == Which::largest ? -1.0 : 1.0;
  const auto in_units = [&](double value) { return unscaled_value(setting.problem.scaling, value); };
  // Others as near as that to the last value belong to its cluster, of which any will do.
  std::vector<Gap> gaps =
      gaps_between(values, values.front() - outwards * margins.residuals, 4.0 * margins.residuals);
  const int before = gaps.back().found;
  const double first = values[static_cast<std::size_t>(before)];
  const double half = before > 0 ? 0.5 * std::abs(first - values[static_cast<std::size_t>(before) - 1])
                                 : std::numeric_limits<double>::infinity();
  const CountAt at =
      count_before(count, first, outwards, before,
                   {margins.residuals, std::min(half, very_much * margins.residuals), much * margins.rounding});
  proof.shift = in_units(at.shift);
  if (!at.decides) {
    proof.counted = at.counted.most;
    proof.statement = fmt::format(
        "inertia, next to nothing: {} to {} eigenvalues {} {:.10g}, {} found: rounding errors hide the number",
        at.counted.least, at.counted.most, which == Which::largest ? "above" : "below", proof.shift, before);
    return {0, {}, true};
  }
  if (at.counted.least > before) {
    proof.counted = at.counted.least;
    const auto missing = static_cast<int>(proof.counted - before);
    if (before == 0) gaps.pop_back();
    locate(count, gaps, at.shift, proof);
    proof.missing_from = in_units(proof.missing_from);
    proof.missing_to = in_units(proof.missing_to);
    give_factors_back(setting);
    return {missing, vectors_of_missed(setting, result, round, proof), false};
  }
  proof.counted = at.counted.most;
  proof.statement = counted_statement(proof, which, before, in_units(std::abs(first - at.shift)));
  if (proof.counted < before) return {static_cast<int>(before - proof.counted), {}, true};
  const double last = values.back();
  // What could not be told from the shift behind lies as near to it as the one before had to stay away at most.
  const double beyond = behind.counted.least < behind.counted.most ? std::abs(first - at.shift) : 0.0;
  const double within = beyond + (before > 0 ? std::max(std::abs(behind.shift - last), std::abs(last - at.shift))
                                             : std::abs(behind.shift - at.shift));
  const double reach = reach_of(setting, result);
  if (before == 0 && reach > 0.0 && within > reach) {
    proof.statement = indistinct_statement(proof, which, pairs, in_units(within), in_units(reach));
    return {0, {}, true};
  }
  const std::int64_t of_cluster = behind.counted.most - at.counted.most;
  add_cluster(of_cluster, in_units(within), pairs - before, in_units(extent_of(result)), proof);
  return {};
}

/// Of the pairs found with those that pivots tell of.
template <class T>
Finding<T> compare_counts(const SolveSetting<T>& setting, const EigenResult<T>& result, int round, Proof& proof) {
  proof.made = "inertia";
  const auto pairs = static_cast<int>(result.eigenvalues.size());
  const Which which = setting.config.options.which;
  const double outwards = which == Which::largest ? -1.0 : 1.0;
  const auto in_units = [&](double value) { return unscaled_value(setting.problem.scaling, value); };
  const bool asked_for = setting.config.verify == Verify::inertia;
  const InertiaCount count(setting.problem, setting.sources, which, asked_for);
  count.require_definite_mass();
  const Margins margins = margins_of(setting, result, count);
  const CountAt behind = count_behind(result, count, outwards, margins);
  proof.shift = in_units(behind.shift);
  proof.counted = behind.counted.most;
  proof.memory = count.bytes();
  proof.statement =
      counted_statement(proof, which, pairs, in_units(std::abs(behind.shift - result.eigenvalues.back())));
  if (proof.counted <= pairs) return {static_cast<int>(pairs - proof.counted), {}, proof.counted < pairs};

  const double reach = reach_of(setting, result);
  if (reach > 0.0 && margins.residuals > reach) {
    proof.statement = indistinct_statement(proof, which, pairs, in_units(margins.residuals), in_units(reach));
    return {0, {}, true};
  }
  return compare_before_cluster(setting, result, count, margins, behind, round, proof);
}

}  // namespace

template <class T>
void give_factors_back(const SolveSetting<T>& setting) {
  if (setting.config.preconditioner.type == PreconditionerType::direct)
    factorise_again(setting.problem, setting.operators.preconditioner.shift);
}

template <class T>
double inertia_bytes(Problem<T>& problem, const Sources& sources, Which which) {
  return InertiaCount(problem, sources, which, true).bytes();
}

template <class T>
Finding<T> look_by_inertia(const SolveSetting<T>& setting, const EigenResult<T>& result, int round, Proof& proof) {
  Finding<T> finding = compare_counts(setting, result, round, proof);
  // As many as were found are all there are. A cluster may hide some: what is stiff may lie within rounding errors
  // of the last value, by the norm of A, where no count tells it apart.
  const bool whole = proof.counted == static_cast<std::int64_t>(result.eigenvalues.size());
  if (finding.missing > 0 || finding.inaccurate || whole || !hides_stiff_parts(setting, result)) return finding;
  give_factors_back(setting);
  ProbeResult<T> seen = look_in_stiff_rows(setting, result, round, proof);
  return {seen.missed.cols(), std::move(seen.missed), false};
}

template double inertia_bytes(Problem<float>&, const Sources&, Which);
template double inertia_bytes(Problem<double>&, const Sources&, Which);
template void give_factors_back(const SolveSetting<float>&);
template void give_factors_back(const SolveSetting<double>&);
template Finding<float> look_by_inertia(const SolveSetting<float>&, const EigenResult<float>&, int, Proof&);
template Finding<double> look_by_inertia(const SolveSetting<double>&, const EigenResult<double>&, int, Proof&);

}  // namespace block_eigs
