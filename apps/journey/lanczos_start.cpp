#include "apps/journey/lanczos_start.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "apps/input/lanczos_options.hpp"
#include "apps/input/stopwatch.hpp"
#include "apps/journey/refine_by_factors.hpp"
#include "solver/lanczos/block_lanczos.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Between the values of (A - sigma B)^-1 B and eigenvalues.
struct Spectrum {
  double shift = 0.0;
  double sign = 1.0;  ///< of lambda - sigma

  double eigenvalue(double value) const { return shift + sign / value; }
};

/// How large residuals may be in the norm of B^-1, that of x^T B x being one, and whether they are.
class Limits {
 public:
  Limits(const LobpcgOptions& options, const Spectrum& spectrum, double norm, double typical_mass, double epsilon)
      : options_(options),
        spectrum_(spectrum),
        norm_(norm / typical_mass),
        mass_(typical_mass),
        epsilon_(epsilon) {}

  /// What is asked for, or as little as solves leave of the distance from sigma.
  double of(double eigenvalue) const {
    constexpr double share = 0.1;
    constexpr double solved = 1e4;
    return std::max(share * options_.tolerance * scale(std::abs(eigenvalue)),
                    solved * epsilon_ * std::abs(eigenvalue - spectrum_.shift));
  }
  /// For a value of the inverse. Rounding errors of A do, once residuals do not fall any more.
  double of_inverse(double value) const {
    const double distance = of(spectrum_.eigenvalue(value));
    return value * value * (rests() ? std::max(distance, rounding()) : distance);
  }
  /// Takes note of one more step, the largest residual over its limit, and the largest.
  void after(double worst, double largest) {
    constexpr double half = 0.5;
    within_rounding_ = largest <= rounding();
    steps_at_rest_ = worst < half * best_ ? 0 : steps_at_rest_ + 1;
    best_ = std::min(best_, worst);
  }

 private:
  bool rests() const {
    constexpr int patience = 6;  // a Krylov space may rest before it finds the next one
    return within_rounding_ && steps_at_rest_ >= patience;
  }
  double rounding() const {
    constexpr double roundings = 10.0;
    return roundings * epsilon_ * norm_;
  }
  double scale(double eigenvalue) const {
    switch (options_.convergence) {
      case Convergence::norm:
        return norm_ + eigenvalue;
      case Convergence::absolute:
        return 1.0 / std::sqrt(mass_);
      default:
        return eigenvalue;
    }
  }

  const LobpcgOptions& options_;
  Spectrum spectrum_;
  double norm_;
  double mass_;
  double epsilon_;
  double best_ = HUGE_VAL;
  int steps_at_rest_ = 0;
  bool within_rounding_ = false;
};

/// A step as an iteration of LOBPCG, whose residuals are Euclidean, of so many pairs.
template <class T>
LobpcgIteration entry_of(const EigenPairs<T>& before, const LanczosPairs& found, const Spectrum& spectrum,
                         double typical_mass, int pairs) {
  LobpcgIteration entry;
  entry.eigenvalues = before.values;
  entry.residual_norms = before.residual_norms;
  for (std::size_t j = 0; j < found.values.size(); ++j) {
    const double value = found.values[j];
    entry.eigenvalues.push_back(spectrum.eigenvalue(value));
    entry.residual_norms.push_back(std::sqrt(typical_mass) * found.residuals[j] / (value * value));
  }
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  entry.eigenvalues.resize(static_cast<std::size_t>(pairs), unknown);
  entry.residual_norms.resize(static_cast<std::size_t>(pairs), unknown);
  entry.products = found.solves;
  return entry;
}

/// The first `done` of these pairs have converged already; no more than `complete` have.
IterationReport report_of(const LobpcgIteration& entry, int pairs, int done, int complete, int iteration,
                          const Limits& limits, double typical_mass) {
  IterationReport report;
  report.iteration = iteration;
  report.wanted = pairs;
  report.converged = done;
  report.active_columns = entry.active_columns;
  report.products = entry.products;
  for (int j = done; j < report.wanted; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const double ratio = entry.residual_norms[at] / (std::sqrt(typical_mass) * limits.of(entry.eigenvalues[at]));
    if (ratio <= 1.0 && report.converged == j && j < complete) ++report.converged;
    report.worst = std::isnan(ratio) ? HUGE_VAL : std::max(report.worst, ratio);
  }
  report.distance = report.worst;
  report.seconds = entry.seconds;
  report.eigenvalues = entry.eigenvalues;
  report.residual_norms = entry.residual_norms;
  return report;
}

/// NaN where one is.
double largest_of(const std::vector<double>& values) {
  double largest = 0.0;
  for (const double value : values) largest = value <= largest ? largest : value;
  return largest;
}

template <class T>
DenseBlock<T> side_by_side(BlockSpace<T>& space, const DenseBlock<T>& left, const DenseBlock<T>& right) {
  DenseBlock<T> both = space.make_block(left.cols() + right.cols());
  space.copy(left.view(), both.columns(0, left.cols()));
  space.copy(right.view(), both.columns(left.cols(), right.cols()));
  return both;
}

/// Where none of the others was found by other factors.
template <class T>
bool is_for_lanczos(const BlockSpace<T>& space, const EigenSolver<T>& solver, const DenseBlock<T>& constraints,
                    const EigenPairs<T>& before) {
  const EigensolverConfig& config = solver.config.eigensolver;
  const LobpcgOptions& options = config.options;
  return config.preconditioner.type == PreconditionerType::direct &&
         config.preconditioner.direct.target.found.size() == before.values.size() &&
         starts_by_lanczos(options, space.dimension() - constraints.cols()) &&
         !solves_densely(options, space.dimension(), constraints.cols());
}

/// What is left to find, with random vectors of its own: what those of before have of copies was found.
LanczosOptions options_beside(const LobpcgOptions& options, int found, int steps) {
  constexpr int apart = 20;
  LanczosOptions asked = lanczos_options(options);
  asked.seed += static_cast<std::uint64_t>(found) << apart;
  asked.most_steps -= steps;
  asked.pairs -= found;
  asked.columns -= found;
  return asked;
}

}  // namespace

template <class T>
LanczosStart<T> lanczos_start(BlockSpace<T>& space, Problem<T>& problem, const EigenSolver<T>& solver,
                              const DenseBlock<T>& constraints, EigenPairs<T> before, const Observer& observer,
                              const Proceed& proceed, EigenResult<T>& passed) {
  LanczosStart<T> start{{}, std::move(before)};
  EigenPairs<T>& pairs = start.pairs;
  if (!is_for_lanczos(space, solver, constraints, pairs)) return start;
  const LobpcgOptions& options = solver.config.eigensolver.options;
  const Spectrum spectrum{solver.operators->preconditioner.shift, options.which == Which::largest ? -1.0 : 1.0};
  const double mass = problem.b ? problem.b->typical_row_sum() : 1.0;
  Limits limits(options, spectrum, problem.a->norm_inf(), mass, std::numeric_limits<T>::epsilon());
  const int columns = lanczos_options(options).columns;
  const int known = pairs.count();
  const LanczosOptions asked = options_beside(options, known, passed.iterations);
  if (asked.most_steps <= 0) return start;
  const Stopwatch clock;
  const double seconds_before = passed.solve_seconds;
  bool ended = false;
  LobpcgIteration entry;
  const auto tell = [&](const LanczosPairs& found) {
    entry = entry_of(pairs, found, spectrum, mass, columns);
    entry.seconds = seconds_before + clock.seconds();
    entry.active_columns = lanczos_shape(asked).block;
    IterationReport report =
        report_of(entry, options.pairs, known, known + found.complete, ++passed.iterations, limits, mass);
    ended = proceed && !proceed(report);
    LobpcgIteration told = entry;
    told.eigenvalues.resize(static_cast<std::size_t>(options.pairs));
    told.residual_norms.resize(static_cast<std::size_t>(options.pairs));
    limits.after(report.worst, largest_of(told.residual_norms) / std::sqrt(mass));
    report.eigenvalues = told.eigenvalues;
    report.residual_norms = told.residual_norms;
    if (observer) observer(report);
    passed.history.push_back(std::move(told));
    return !ended;
  };
  LinearOperator<T>& factors = *solver.operators->preconditioner.operation;
  try {
    const DenseBlock<T> outside = known > 0 ? side_by_side(space, constraints, pairs.vectors) : DenseBlock<T>{};
    const DenseBlock<T>& kept_out = known > 0 ? outside : constraints;
    LanczosVectors<T> found = block_lanczos<T>(
        space, factors, problem.b.get(), kept_out.cols() > 0 ? &kept_out : nullptr, asked,
        [&](double value) { return limits.of_inverse(value); }, tell);
    for (const double value : found.values) pairs.values.push_back(spectrum.eigenvalue(value));
    pairs.vectors = known > 0 ? side_by_side(space, pairs.vectors, found.vectors) : std::move(found.vectors);
    pairs.residual_norms = std::move(entry.residual_norms);
    pairs.residual_norms.resize(pairs.values.size(), std::numeric_limits<double>::quiet_NaN());
    if (!ended && !space.to_end_early())
      start.result =
          finished_by_factors(space, problem, factors, options, constraints, known, pairs.vectors, pairs.values);
  } catch (const Error& error) {
    if (dynamic_cast<const OnAllRanks*>(&error) == nullptr || error.exit_code() != ExitCode::run_failed) throw;
    pairs.values.resize(static_cast<std::size_t>(pairs.vectors.cols()));
  }
  passed.solve_seconds = seconds_before + clock.seconds();
  return start;
}

template LanczosStart<float> lanczos_start(BlockSpace<float>&, Problem<float>&, const EigenSolver<float>&,
                                           const DenseBlock<float>&, EigenPairs<float>, const Observer&,
                                           const Proceed&, EigenResult<float>&);
template LanczosStart<double> lanczos_start(BlockSpace<double>&, Problem<double>&, const EigenSolver<double>&,
                                            const DenseBlock<double>&, EigenPairs<double>, const Observer&,
                                            const Proceed&, EigenResult<double>&);

}  // namespace block_eigs
