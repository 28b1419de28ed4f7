#include "apps/journey/proof_inertia.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/input/shift_search.hpp"
#include "apps/journey/scaled_units.hpp"
#include "solver/factors/factorization.hpp"

namespace block_eigs {

namespace {

/// The matrices in the units of the solve, for one factorisation after the other.
class Counter {
 public:
  template <class T>
  Counter(const Problem<T>& problem, const Sources& sources, Which which)
      : upper_(which == Which::largest),
        comm_(problem.context.comm),
        left_out_(problem.lone.values),
        a_(sources.a->read(problem.partition)) {
    take_out_couplings(problem.held, a_);
    replace_penalties(problem.held, a_);
    scale_rows(a_, problem.scaling.a);
    if (sources.b) {
      b_ = sources.b->read(problem.partition);
      take_out_couplings(problem.held, *b_);
      scale_rows(*b_, problem.scaling.b);
    }
    factors_ = std::make_unique<factors::Factorization>(problem.context.comm, a_, b_ ? &*b_ : nullptr,
                                                        problem.partition, inertia_use);
  }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  /// Throws IndefiniteMass where B has negative eigenvalues: what is counted then are no eigenvalues.
  /// Collective.
  void require_definite_mass(const Partition& partition) const {
    if (!b_) return;
    const std::int64_t negative = factors::inertia(comm_, *b_, nullptr, partition, 0.0, inertia_use).below;
    if (negative == 0) return;
    throw IndefiniteMass(fmt::format(
        "mass matrix B is not positive definite, {} of its {} eigenvalues {} negative: A x = lambda B x has other "
        "eigenvalues than those that were looked for",
        negative, partition.rows(), negative == 1 ? "is" : "are"));
  }

  /// What rounding errors of factors of A - sigma B, with B, move eigenvalues by, as an estimate: vectors may lie
  /// where B is small, though those that were found lie elsewhere. `diagonal` is that of own rows of B.
  /// Collective.
  double rounding(double sigma, const std::vector<double>& diagonal) const {
    const std::vector<double> of_a = absolute_sums(a_);
    const std::vector<double> of_b = absolute_sums(*b_);
    double most = 0.0;
    for (std::size_t i = 0; i < of_a.size(); ++i)
      if (diagonal[i] > 0.0) most = std::max(most, (of_a[i] + std::abs(sigma) * of_b[i]) / diagonal[i]);
    return 10.0 * std::numeric_limits<double>::epsilon() * comm_.max(most);
  }

  /// Eigenvalues on the wanted side of sigma, but for those of rows that were left out; those at sigma count.
  /// Collective.
  std::int64_t wanted_side(double sigma) const {
    const factors::Inertia inertia = factors_->factorize(a_, b_ ? &*b_ : nullptr, sigma);
    const std::int64_t known = std::count_if(left_out_.begin(), left_out_.end(), [&](double value) {
      return upper_ ? value >= sigma : value <= sigma;
    });
    return (upper_ ? inertia.above : inertia.below) + inertia.at - comm_.sum(known);
  }

  /// That the calling rank takes, with factors.
  double bytes() const { return factors_->size().bytes + bytes_of(a_) + (b_ ? bytes_of(*b_) : 0.0); }

 private:
  static double bytes_of(const CsrRows& rows) {
    return static_cast<double>(rows.nonzeros()) * (sizeof(double) + sizeof(GlobalIndex)) +
           static_cast<double>(rows.rows()) * sizeof(Offset);
  }

  bool upper_;
  Communicator comm_;
  std::vector<double> left_out_;
  CsrRows a_;
  std::optional<CsrRows> b_;
  std::unique_ptr<factors::Factorization> factors_;
};

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
void locate(const Counter& count, const std::vector<Gap>& gaps, double end, Proof& proof) {
  std::size_t whole = 0;  // nothing is missing before gaps[whole - 1]
  std::size_t lacking = gaps.size();
  while (whole < lacking) {
    const std::size_t at = whole + (lacking - whole) / 2;
    const bool complete = count.wanted_side(gaps[at].middle) <= gaps[at].found;
    (complete ? whole : lacking) = complete ? at + 1 : at;
  }
  proof.missing_to = lacking < gaps.size() ? gaps[lacking].middle : end;
  proof.missing_from = whole > 0 ? gaps[whole - 1].middle : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

template <class T>
double inertia_bytes(const Problem<T>& problem, const Sources& sources, Which which) {
  const Counter counter(problem, sources, which);
  return counter.bytes();
}

template <class T>
Finding<T> look_by_inertia(const SolveSetting<T>& setting, const EigenResult<T>& result, int round, Proof& proof) {
  proof.made = "inertia";
  const std::vector<double>& values = result.eigenvalues;
  const auto pairs = static_cast<std::int64_t>(values.size());
  const Which which = setting.config.options.which;
  const double outwards = which == Which::largest ? -1.0 : 1.0;
  const char* side = which == Which::largest ? "above" : "below";
  const ProbeOperators<T> operators = probe_operators(setting, result);
  const double known = known_within(setting.space, operators, found_pairs(setting, result));
  double within = known > 0.0 ? known : ShiftSearch::rounding(0.0);
  const auto in_units = [&](double value) { return unscaled_value(setting.problem.scaling, value); };

  const Counter count(setting.problem, setting.sources, which);
  count.require_definite_mass(setting.problem.partition);
  if (setting.problem.b) within = std::max(within, count.rounding(values.back(), setting.problem.b->diagonal()));
  double sigma = values.back() + outwards * within;
  const auto wanted_side = [&](double at) {
    proof.shift = in_units(at);
    proof.counted = count.wanted_side(at);
    return proof.counted;
  };
  const std::int64_t with_cluster = wanted_side(sigma);
  proof.memory = count.bytes();
  proof.statement = fmt::format("inertia, {} eigenvalues {} {:.10g}, {} found: none missed", proof.counted, side,
                                proof.shift, pairs);
  if (proof.counted == pairs) return {};
  if (proof.counted < pairs) {
    proof.statement = fmt::format(
        "inertia, only {} eigenvalues {} {:.10g}, but {} found: the factorisation or the residuals are "
        "less accurate than they seem",
        proof.counted, side, proof.shift, pairs);
    return {static_cast<int>(pairs - proof.counted), {}, true};
  }
  // Others as near as that to the last value belong to its cluster, of which any will do.
  std::vector<Gap> gaps = gaps_between(values, values.front() - outwards * within, 4.0 * within);
  const int before = gaps.back().found;
  sigma = gaps.back().middle;
  wanted_side(sigma);
  proof.statement = fmt::format(
      "inertia, {} eigenvalues {} {:.10g}, {} found: none missed; the last value has {} within {:.1e} of it, of "
      "which {} were asked for",
      proof.counted, side, proof.shift, before, with_cluster - proof.counted, in_units(within), pairs - before);
  if (proof.counted == before) return {};
  if (proof.counted < before) {
    proof.statement = fmt::format(
        "inertia, only {} eigenvalues {} {:.10g}, but {} found: the factorisation or the residuals are less "
        "accurate than they seem",
        proof.counted, side, proof.shift, before);
    return {static_cast<int>(before - proof.counted), {}, true};
  }
  gaps.pop_back();
  locate(count, gaps, sigma, proof);
  proof.missing_from = in_units(proof.missing_from);
  proof.missing_to = in_units(proof.missing_to);
  constexpr int filter_degree = 400;
  constexpr int iterations = 40;
  const bool plain = operators.b == nullptr && operators.preconditioner == nullptr;
  ProbeResult<T> seen = probe_result(setting, result, plain ? filter_degree : iterations, false, round);
  return {static_cast<int>(proof.counted - before), std::move(seen.missed), false};
}

template double inertia_bytes(const Problem<float>&, const Sources&, Which);
template double inertia_bytes(const Problem<double>&, const Sources&, Which);
template Finding<float> look_by_inertia(const SolveSetting<float>&, const EigenResult<float>&, int, Proof&);
template Finding<double> look_by_inertia(const SolveSetting<double>&, const EigenResult<double>&, int, Proof&);

}  // namespace block_eigs
