#include "apps/report/advice_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "apps/report/text.hpp"
#include "solver/lobpcg/overlap.hpp"

namespace block_eigs {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Another preconditioner is advised where so many times the iterations allowed would be needed.
constexpr double patience = 3.0;
/// Estimates beyond are no numbers to plan with.
constexpr double longest_estimate = 1e7;
/// Of the lowest value, where the shift of a cycle is put: behind the spectrum.
constexpr double beyond_lowest = 1.05;

/// Blocks are advised to be so many times wider, up to so many columns.
constexpr int wider = 8;
constexpr int widest_advised = 512;
/// Values so close in relation to their size are taken for a cluster.
constexpr double close = 1e-2;

constexpr const char* automatic_choice = "eigensolver.preconditioner={type: auto}";

bool is_automatic(const RunConfig& config) {
  return config.eigensolver.preconditioner.type == PreconditionerType::automatic;
}

/// Whether `auto` could do better: not what was at work, nor out of reach.
bool can_choose(const UnfinishedEigensolve& run, const RunConfig& config) {
  return run.entries_known && !is_automatic(config);
}

/// Whether cycles are made of A and nothing is added to it that would lift eigenvalues found above zero.
bool cycles_are_of_indefinite(const UnfinishedEigensolve& run, const RunConfig& config) {
  const PreconditionerConfig& preconditioner = config.eigensolver.preconditioner;
  return preconditioner.type == PreconditionerType::amg && run.lowest < 0.0 &&
         !(preconditioner.amg.shift <= run.lowest);
}

std::string lowest_text(const UnfinishedEigensolve& run) {
  return fmt::format("A has eigenvalues down to {:.3g}", run.lowest);
}

Advice on_iterations(const UnfinishedEigensolve& run, const RunConfig& config) {
  const int allowed = config.eigensolver.options.max_iterations;
  const double needed = std::min(estimated_iterations(run.course, run.requested), longest_estimate);
  if (cycles_are_of_indefinite(run, config) && run.indefinite && run.entries_known)
    return {lowest_text(run), automatic_choice, ""};
  const bool slow = needed == 0.0 || needed > patience * allowed;
  Advice advice;
  if (needed > 0.0) {
    advice.reason = fmt::format("at the rate of the last ones about {} are needed",
                                count_text(static_cast<std::int64_t>(rounded_up(needed))));
    advice.change = fmt::format("eigensolver.max_iterations={:.0f}", rounded_up(1.3 * needed));
  } else {
    advice.change = fmt::format("eigensolver.max_iterations={}", std::max(500, 4 * std::min(allowed, 1 << 28)));
  }
  // It tries more columns by itself where these are too few.
  if (slow && can_choose(run, config)) advice.change = automatic_choice;
  if (!slow || can_choose(run, config) || !run.clustered || run.columns >= widest_advised) return advice;
  // `auto` has tried so many already, or had no memory for more.
  advice.reason = fmt::format(
      "values lie so close together that they may belong to more than the {} columns at work", run.columns);
  advice.change = fmt::format("eigensolver.block_size={}", std::min(wider * run.columns, widest_advised));
  return advice;
}

Advice on_preconditioner(const UnfinishedEigensolve& run, const RunConfig& config) {
  if (cycles_are_of_indefinite(run, config)) {
    return {lowest_text(run), fmt::format("eigensolver.preconditioner.shift={:.3g}", beyond_lowest * run.lowest),
            ""};
  }
  if (!run.entries_known) return {};
  return {"", is_automatic(config) ? "eigensolver.preconditioner={type: none}" : automatic_choice, ""};
}

/// Residuals are as large as the values. Where they are rounding errors of the norms of A and B nothing makes them
/// smaller: values are zero, or B^-1 A is far larger than they are.
Advice on_values_near_zero(const UnfinishedEigensolve& run, const RunConfig& config) {
  // B^-1 A may be as much larger than A: what is below is taken for rounding errors.
  constexpr double rounding = 1e-11;
  const bool choose = can_choose(run, config) && !(run.by_norm <= rounding);
  if (choose) return {"", automatic_choice, ""};
  if (!(run.by_norm <= run.requested)) return {};
  return {
      fmt::format("residuals are {:.1e} of the norms of A and B, but as large as the values, no digit of which is "
                  "certain; where these are zeros, norms are what counts",
                  run.by_norm),
      "eigensolver.convergence=norm", ""};
}

Advice on_precision(const UnfinishedEigensolve& run, const RunConfig& config) {
  if (!std::isfinite(run.attained)) return {"", can_choose(run, config) ? automatic_choice : "", ""};
  // With more than that to spare any vector would do.
  constexpr double largest = 0.1;
  const bool relative = config.eigensolver.options.convergence != Convergence::absolute;
  const std::string reached = relative && !(run.attained <= largest)
                                  ? "rounding errors are as large as the values"
                                  : fmt::format("a tolerance of {:.1e} is met", run.attained);
  if (config.precision == Precision::float32) return {reached, "precision=double", ""};
  if (relative && !(2.0 * run.attained <= largest)) return on_values_near_zero(run, config);
  return {reached, fmt::format("eigensolver.tolerance={:.0e}", 2.0 * run.attained), ""};
}

}  // namespace

UnfinishedEigensolve unfinished_eigensolve(const Verification& verified, Limitation limitation,
                                           const std::vector<LobpcgIteration>& history,
                                           const LobpcgOptions& options) {
  UnfinishedEigensolve run;
  run.columns = block_width(options);
  run.limitation = limitation;
  run.requested = verified.requested;
  const std::size_t found = verified.outcomes.size();
  std::size_t worst = found;
  for (std::size_t j = 0; j < found; ++j) {
    const double below = verified.eigenvalues[j] - verified.residual_norms[j];
    if (!(run.lowest <= below)) run.lowest = below;
    if (verified.eigenvalues[j] < -verified.residual_norms[j]) run.indefinite = true;
    if (verified.outcomes[j] != Outcome::not_converged) continue;
    if (!(verified.by_norm[j] <= run.by_norm)) run.by_norm = verified.by_norm[j];
    if (!(verified.attained[j] > run.attained)) continue;
    run.attained = verified.attained[j];
    worst = j;
  }
  // Bounds are residuals in units of eigenvalues.
  if (worst < found && found > 1 && std::isfinite(verified.error_bounds[worst])) {
    const double last = verified.eigenvalues.back();
    const double spread = std::abs(last - verified.eigenvalues[(found - 1) / 2]);
    run.clustered = spread <= close * std::abs(last) && overlap(spread, verified.error_bounds[worst]);
  }
  if (found < static_cast<std::size_t>(options.pairs)) {
    run.attained = run.by_norm = infinity;
    return run;
  }
  if (worst == found || !(verified.residual_norms[worst] > 0.0)) return run;
  const double unit = verified.attained[worst] / verified.residual_norms[worst];
  for (const LobpcgIteration& entry : history) {
    const double residual = entry.residual_norms[worst];
    if (std::isfinite(residual)) run.course.push_back(unit * residual);
  }
  return run;
}

Advice advise(const UnfinishedEigensolve& run, const RunConfig& config) {
  if (run.limitation == Limitation::preconditioner) return on_preconditioner(run, config);
  // What is missing though all residuals are small has been said by those who found out.
  if (!(run.attained > run.requested)) return {};
  const bool ended_early = run.limitation == Limitation::iterations || run.limitation == Limitation::stopped;
  return ended_early ? on_iterations(run, config) : on_precision(run, config);
}

}  // namespace block_eigs
