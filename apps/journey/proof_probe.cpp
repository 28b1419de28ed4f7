#include "apps/journey/proof_probe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/journey/proof_choice.hpp"
#include "apps/journey/proof_pencils.hpp"
#include "apps/journey/scaled_units.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "solver/proof/effort.hpp"

namespace block_eigs {

namespace {

constexpr double probability = 0.01;
constexpr const char* hidden_by_rounding = "; rounding errors hide what is nearer";

/// Where the probe sees less far than `reach`, what the found values extend over, all there is between may have
/// been missed; 0 where that is no more than rounding errors. `lost`: these are what it sees no farther for. All
/// in the user's units.
std::string statement(const Proof& proof, double last, double reach, bool calibrated, bool lost) {
  if (!std::isfinite(proof.smallest_gap)) {
    return "none missed that a probe within a tenth of the solve can see, which is next to nothing here; "
           "verify: inertia proves it";
  }
  const std::string condition = calibrated ? ", and taken by the preconditioner as the found ones are" : "";
  if (reach > 0.0 && proof.smallest_gap > reach) {
    return fmt::format(
        "probe, confidence {:g}% only that no pair was missed which is farther from the last value than {:.1e}, "
        "{:.2g} times what the found ones extend over{}{}",
        100.0 * proof.confidence, proof.smallest_gap, proof.smallest_gap / reach, condition,
        lost ? hidden_by_rounding : "; verify: inertia proves more");
  }
  // Of a value that is zero but for rounding errors nothing is a sensible multiple.
  constexpr double largest = 1e3;
  const bool relative = proof.smallest_gap <= largest * std::abs(last);
  return fmt::format(
      "probe, no pair missed with confidence {:g}% if separated from the last value by at least "
      "{:.1e}{}{}",
      100.0 * proof.confidence, relative ? proof.smallest_gap / std::abs(last) : proof.smallest_gap,
      relative ? " (relative)" : "", condition);
}

/// What there is in float: of iterations, or of a cycle that works in it under iterations in double.
template <class T>
FloatOperators operators_in_float(const Operators<T>& operators) {
  return operators.in_float.a != nullptr ? operators.in_float : operators.preconditioner.in_float;
}

/// Whether the eigenvalues of T = M^-1 (A - sigma B) are 1 at most: I - M^-1 (A - shift I) is positive
/// semidefinite for a symmetric cycle with Galerkin's matrices, and what sigma takes off beside the shift is so,
/// too.
template <class T>
bool cycle_bounds(const SolveSetting<T>& setting, double sigma) {
  const EigensolverConfig& config = setting.config;
  if (config.preconditioner.type != PreconditionerType::amg || config.options.which != Which::smallest)
    return false;
  const double shift = config.preconditioner.amg.shift;
  return sigma >= shift && (!setting.problem.b || shift == 0.0);
}

/// Whether vectors from elsewhere were taken as they are: no iteration has looked beside them.
template <class T>
bool was_given(const SolveSetting<T>& setting, const EigenResult<T>& result) {
  return setting.config.initial.has_value() || result.iterations == 0;
}

/// How far found values lie apart, or what stands for it where they do not: a share of the last one, or of how far
/// others are from it on the average, as far as the probe has seen that.
template <class T>
double spread_of(const EigenResult<T>& result, const ProbeResult<T>& seen) {
  constexpr double share = 0.1;
  const double last = result.eigenvalues.back();
  const double size = seen.mean_distance > 0.0 ? std::min(std::abs(last), seen.mean_distance) : std::abs(last);
  return std::max(std::abs(last - result.eigenvalues.front()), share * size);
}

/// Why there is no confidence in a probe, which learns from found vectors what it would have seen of others, where
/// x'Bx may be much smaller for these; else empty.
template <class T>
std::string no_confidence(const SolveSetting<T>& setting) {
  if (setting.config.options.which == Which::largest || setting.problem.b == nullptr) return "";
  const MassSpread& spread = setting.problem.mass_spread;
  if (spread.soft()) {
    return fmt::format(
        "none missed that a probe and a search where x'Bx is small have seen, without confidence: x'Bx = {:.1e} "
        "x'Dx for some x, D the diagonal of B",
        spread.floor);
  }
  if (!spread.uneven() || setting.operators.preconditioner.operation != nullptr) return "";
  return fmt::format(
      "none missed that a probe has seen, without confidence: the diagonal of B differs by a factor of {:.1e}, "
      "and "
      "nothing scales its rows, as preconditioner: jacobi does",
      spread.diagonal_ratio);
}

/// By how much -sigma D^-1 B, D being Jacobi's, raises the spectrum of D^-1 (A - sigma B) at most, for largest
/// pairs sigma D^-1 B that of D^-1 (sigma B - A). Collective.
template <class T>
double raised_by_shift(const SolveSetting<T>& setting, double sigma) {
  const double shift = setting.config.options.which == Which::smallest ? -sigma : sigma;
  if (!(shift > 0.0)) return 0.0;
  const Communicator& comm = setting.problem.context.comm;
  double least = std::numeric_limits<double>::infinity();
  comm.collectively([&] {  // entries may have to come from a device
    for (const double entry : setting.problem.a->jacobi_diagonal()) least = std::min(least, std::abs(entry));
  });
  least = -comm.max(-least);
  return shift * (setting.problem.b ? setting.problem.b->norm_inf() : 1.0) / least;
}

}  // namespace

template <class T>
std::uint64_t probe_seed(const SolveSetting<T>& setting, int round) {
  return setting.config.options.seed + 0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(round + 1);
}

template <class T>
double size_of_values(const SolveSetting<T>& setting) {
  DistributedMatrix<T>& a = *setting.problem.a;
  if (!setting.problem.b) return a.norm_inf();
  const Communicator& comm = setting.problem.context.comm;
  double most = 0.0;
  comm.collectively([&] {  // entries may have to come from a device
    const std::vector<double>& of_a = a.diagonal();
    const std::vector<double>& of_b = setting.problem.b->diagonal();
    for (std::size_t i = 0; i < of_a.size(); ++i)
      if (of_b[i] > 0.0) most = std::max(most, std::abs(of_a[i]) / of_b[i]);
  });
  return a.scaled_gershgorin_bound() * comm.max(most);
}

template <class T>
double reach_of(const SolveSetting<T>& setting, const EigenResult<T>& result) {
  constexpr double rounding = 100.0 * std::numeric_limits<double>::epsilon();
  const double last = result.eigenvalues.back();
  const double middle = result.eigenvalues[(result.eigenvalues.size() - 1) / 2];
  const double whole = std::abs(last - result.eigenvalues.front());
  const double reach = std::max(std::abs(last), std::min(whole, 2.0 * std::abs(last - middle)));
  const double of_mass = setting.problem.b ? setting.problem.b->typical_row_sum() : 1.0;
  return reach * of_mass > rounding * setting.problem.a->norm_inf() ? reach : 0.0;
}

template <class T>
bool promises_something(const SolveSetting<T>& setting) {
  return no_confidence(setting).empty();
}

template <class T>
ProbeOperators<T> probe_operators(const SolveSetting<T>& setting, const EigenResult<T>& result) {
  ProbeOperators<T> operators{*setting.problem.a, setting.problem.b.get()};
  const FloatOperators in_float = operators_in_float(setting.operators);
  operators.a_in_float = in_float.a;
  if (!setting.problem.b && mostly_filtered(result.history)) return operators;
  operators.preconditioner = setting.operators.preconditioner.operation.get();
  operators.preconditioner_in_float = in_float.preconditioner;
  if (setting.config.preconditioner.of == PreconditionedMatrix::mass) return operators;
  if (dynamic_cast<const Jacobi<T>*>(operators.preconditioner) != nullptr) {
    // Jacobi divides by raised entries where the diagonal has tiny ones, and by 1 for each zero.
    const DistributedMatrix<T>& a = *setting.problem.a;
    operators.spectral_bound = std::min(a.scaled_gershgorin_bound(), a.jacobi_bound());
    constexpr double share = 0.5;
    const double raised = raised_by_shift(setting, result.eigenvalues.back());
    // Small diagonal entries would stretch the spectrum, and filters would see nothing at its other end.
    if (!(raised <= share * operators.spectral_bound)) {
      operators.preconditioner = nullptr;
      operators.preconditioner_in_float = nullptr;
    }
    operators.spectral_bound += raised;
  }
  if (cycle_bounds(setting, result.eigenvalues.back())) operators.spectral_bound = 1.0;
  return operators;
}

template <class T>
FoundPairs<T> found_pairs(const SolveSetting<T>& setting, const EigenResult<T>& result) {
  return {setting.config.options.which, result.eigenvalues, result.residual_norms, result.eigenvectors.view(),
          setting.constraints.view()};
}

template <class T>
ProbeResult<T> probe_result(const SolveSetting<T>& setting, const EigenResult<T>& result, int degree,
                            bool in_float, int round) {
  ProbeOptions options{.degree = degree, .probability = probability, .in_float = in_float};
  options.seed = probe_seed(setting, round);
  return probe(setting.space, probe_operators(setting, result), found_pairs(setting, result), options);
}

template <class T>
Finding<T> look_by_probe(const SolveSetting<T>& setting, const EigenResult<T>& result, int round, Proof& proof) {
  const ProbeOperators<T> operators = probe_operators(setting, result);
  const bool preconditioned = operators.preconditioner != nullptr || operators.b != nullptr;
  const bool in_float = probes_in_float(setting.space, operators, found_pairs(setting, result));
  const ProbeKind kind{preconditioned, in_float, probe_columns<T>()};
  int degree = probe_degree(result.history, kind, probe_share);
  const bool given = was_given(setting, result);
  if (given || ends_at_limit(result) || hides_soft_masses(setting) || grants_probe(setting, kind))
    degree = std::max(degree, first_degree(kind));
  proof.made = "probe";
  if (degree == 0) {
    proof.made = "none";
    proof.statement = "none: a probe does not fit into a tenth of so short a solve";
    return {};
  }
  ProbeResult<T> elsewhere = look_in_other_pencils(setting, result, round, proof);
  if (elsewhere.missed.cols() > 0) return {elsewhere.missed.cols(), std::move(elsewhere.missed), false};
  ProbeResult<T> seen = probe_result(setting, result, degree, in_float, round);
  while (given && seen.missed.cols() == 0 && seen.smallest_gap > spread_of(result, seen) &&
         degree < most_degree(kind)) {
    degree = std::min(2 * degree, most_degree(kind));
    seen = probe_result(setting, result, degree, in_float, round);
  }
  const Scaling& scaling = setting.problem.scaling;
  const double reach = reach_of(setting, result);
  // What rounding errors of products with A move eigenvalues by, at the most: no one can tell what is nearer.
  const double lost = 10.0 * std::numeric_limits<T>::epsilon() * size_of_values(setting);
  proof.statement = no_confidence(setting);
  if (!proof.statement.empty()) {
    proof.statement += reach > 0.0 && lost > reach ? hidden_by_rounding : "; verify: inertia proves it";
  } else {
    proof.confidence = 1.0 - probability;
    proof.smallest_gap = unscaled_value(scaling, std::max(seen.smallest_gap, lost));
    proof.statement = statement(proof, unscaled_value(scaling, result.eigenvalues.back()),
                                unscaled_value(scaling, reach), seen.calibrated, seen.smallest_gap < lost);
  }
  return {seen.missed.cols(), std::move(seen.missed), false};
}

template std::uint64_t probe_seed(const SolveSetting<float>&, int);
template std::uint64_t probe_seed(const SolveSetting<double>&, int);
template double size_of_values(const SolveSetting<float>&);
template double size_of_values(const SolveSetting<double>&);
template double reach_of(const SolveSetting<float>&, const EigenResult<float>&);
template double reach_of(const SolveSetting<double>&, const EigenResult<double>&);
template bool promises_something(const SolveSetting<float>&);
template bool promises_something(const SolveSetting<double>&);
template ProbeOperators<float> probe_operators(const SolveSetting<float>&, const EigenResult<float>&);
template ProbeOperators<double> probe_operators(const SolveSetting<double>&, const EigenResult<double>&);
template FoundPairs<float> found_pairs(const SolveSetting<float>&, const EigenResult<float>&);
template FoundPairs<double> found_pairs(const SolveSetting<double>&, const EigenResult<double>&);
template ProbeResult<float> probe_result(const SolveSetting<float>&, const EigenResult<float>&, int, bool, int);
template ProbeResult<double> probe_result(const SolveSetting<double>&, const EigenResult<double>&, int, bool, int);
template Finding<float> look_by_probe(const SolveSetting<float>&, const EigenResult<float>&, int, Proof&);
template Finding<double> look_by_probe(const SolveSetting<double>&, const EigenResult<double>&, int, Proof&);

}  // namespace block_eigs
