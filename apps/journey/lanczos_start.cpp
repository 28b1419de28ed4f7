#include "apps/journey/lanczos_start.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "apps/choice/direct_candidate.hpp"
#include "apps/input/stopwatch.hpp"
#include "apps/journey/refine_by_factors.hpp"
#include "solver/lanczos/block_lanczos.hpp"
#include "solver/lobpcg/finished_pairs.hpp"
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
  /// Of the inverse's value. Rounding errors of A do, once residuals do not fall any more.
  bool hold(double value, double residual) const {
    const double distance = residual / (value * value);
    return distance <=
           (rests() ? std::max(of(spectrum_.eigenvalue(value)), rounding()) : of(spectrum_.eigenvalue(value)));
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
LobpcgIteration entry_of(const LanczosPairs& found, const Spectrum& spectrum, double typical_mass, int pairs) {
  LobpcgIteration entry;
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

IterationReport report_of(const LobpcgIteration& entry, int pairs, int iteration, const Limits& limits,
                          double typical_mass) {
  IterationReport report;
  report.iteration = iteration;
  report.wanted = pairs;
  report.active_columns = entry.active_columns;
  report.products = entry.products;
  for (int j = 0; j < report.wanted; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const double ratio = entry.residual_norms[at] / (std::sqrt(typical_mass) * limits.of(entry.eigenvalues[at]));
    if (ratio <= 1.0 && report.converged == j) ++report.converged;
    report.worst = std::isnan(ratio) ? HUGE_VAL : std::max(report.worst, ratio);
  }
  report.distance = report.worst;
  report.seconds = entry.seconds;
  report.eigenvalues = entry.eigenvalues;
  report.residual_norms = entry.residual_norms;
  return report;
}

/// Columns solved for, before LOBPCG goes on: several times as many as it takes as a rule.
int most_solves(int pairs) {
  constexpr int least = 500;
  constexpr int of_pair = 30;
  return least + of_pair * std::min(pairs, std::numeric_limits<int>::max() / (2 * of_pair));
}

/// NaN where one is.
double largest_of(const std::vector<double>& values) {
  double largest = 0.0;
  for (const double value : values) largest = value <= largest ? largest : value;
  return largest;
}

template <class T>
DenseBlock<T> leading_columns(BlockSpace<T>& space, DenseBlock<T> block, LocalIndex most) {
  if (block.cols() <= most) return block;
  DenseBlock<T> leading = space.make_block(most);
  space.copy(block.columns(0, most), leading.view());
  return leading;
}

/// Where none of the pairs was found by other factors.
template <class T>
bool is_for_lanczos(const BlockSpace<T>& space, const EigenSolver<T>& solver, const DenseBlock<T>& constraints) {
  const EigensolverConfig& config = solver.config.eigensolver;
  const LobpcgOptions& options = config.options;
  return starts_by_lanczos(options) && config.preconditioner.type == PreconditionerType::direct &&
         config.preconditioner.direct.found.empty() &&
         !solves_densely(options, space.dimension(), constraints.cols());
}

}  // namespace

template <class T>
LanczosStart<T> lanczos_start(BlockSpace<T>& space, Problem<T>& problem, const EigenSolver<T>& solver,
                              const DenseBlock<T>& constraints, const Observer& observer, const Proceed& proceed,
                              EigenResult<T>& passed) {
  if (!is_for_lanczos(space, solver, constraints)) return {};
  const LobpcgOptions& options = solver.config.eigensolver.options;
  const Spectrum spectrum{solver.operators->preconditioner.shift, options.which == Which::largest ? -1.0 : 1.0};
  const double mass = problem.b ? problem.b->typical_row_sum() : 1.0;
  Limits limits(options, spectrum, problem.a->norm_inf(), mass, std::numeric_limits<T>::epsilon());
  const int columns = block_width(options);
  const LanczosOptions asked{.pairs = options.pairs,
                             .columns = columns,
                             .most_steps = options.max_iterations,
                             .most_solves = most_solves(options.pairs),
                             .seed = options.seed};
  const Stopwatch clock;
  const double before = passed.solve_seconds;
  const auto tell = [&](const LanczosPairs& pairs) {
    LobpcgIteration entry = entry_of(pairs, spectrum, mass, columns);
    entry.seconds = before + clock.seconds();
    entry.active_columns = lanczos_shape(asked).block;
    IterationReport report = report_of(entry, options.pairs, ++passed.iterations, limits, mass);
    const bool goes_on = !proceed || proceed(report);
    entry.eigenvalues.resize(static_cast<std::size_t>(options.pairs));
    entry.residual_norms.resize(static_cast<std::size_t>(options.pairs));
    limits.after(report.worst, largest_of(entry.residual_norms) / std::sqrt(mass));
    report.eigenvalues = entry.eigenvalues;
    report.residual_norms = entry.residual_norms;
    if (observer) observer(report);
    passed.history.push_back(std::move(entry));
    return goes_on;
  };
  LanczosStart<T> start;
  try {
    LanczosVectors<T> found = block_lanczos<T>(
        space, *solver.operators->preconditioner.operation, problem.b.get(),
        constraints.cols() > 0 ? &constraints : nullptr, asked,
        [&](double value, double residual) { return limits.hold(value, residual); }, tell);
    for (double& value : found.values) value = spectrum.eigenvalue(value);
    const auto finished = [&] {
      return finished_pairs<T>(space, *problem.a, problem.b.get(), options, found.vectors, found.values);
    };
    if (!space.to_end_early()) start.result = finished();
    if (!start.result && !space.to_end_early()) {
      refine_by_factors(space, problem, *solver.operators->preconditioner.operation, 0, found.vectors);
      start.result = finished();
    }
    if (!start.result) start.vectors = leading_columns(space, std::move(found.vectors), columns);
  } catch (const Error& error) {
    if (dynamic_cast<const OnAllRanks*>(&error) == nullptr || error.exit_code() != ExitCode::run_failed) throw;
  }
  passed.solve_seconds = before + clock.seconds();
  return start;
}

template LanczosStart<float> lanczos_start(BlockSpace<float>&, Problem<float>&, const EigenSolver<float>&,
                                           const DenseBlock<float>&, const Observer&, const Proceed&,
                                           EigenResult<float>&);
template LanczosStart<double> lanczos_start(BlockSpace<double>&, Problem<double>&, const EigenSolver<double>&,
                                            const DenseBlock<double>&, const Observer&, const Proceed&,
                                            EigenResult<double>&);

}  // namespace block_eigs
