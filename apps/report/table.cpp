#include "apps/report/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "apps/report/text.hpp"
#include "io/generate/generate.hpp"

namespace block_eigs {

namespace {

std::string words(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string bound_text(double bound) { return std::isnan(bound) ? "unknown" : fmt::format("{:.1e}", bound); }

}  // namespace

void print_pairs(const Communicator& comm, const Verification& pairs, const std::vector<double>& exact) {
  if (!comm.is_root()) return;
  const bool compare = !exact.empty() && exact.size() >= pairs.eigenvalues.size();
  fmt::print("\n{:>5}  {:>22}  {:>9}  {:>9}  {:>9}  {:>11}  {:<17}{}\n", "pair", "eigenvalue", "residual",
             "attained", "requested", "error bound", "status",
             compare ? fmt::format("  {:>22}  {:>10}", "closed form", "difference") : "");
  for (std::size_t j = 0; j < pairs.eigenvalues.size(); ++j) {
    const double value = pairs.eigenvalues[j];
    fmt::print("{:>5}  {:>22.15e}  {:>9.1e}  {:>9.1e}  {:>9.1e}  {:>11}  {:<17}{}\n", j + 1, value,
               pairs.residual_norms[j], pairs.attained[j], pairs.requested, bound_text(pairs.error_bounds[j]),
               words(name_of(pairs.outcomes[j])),
               compare ? fmt::format("  {:>22.15e}  {:>10.1e}", exact[j], value - exact[j]) : "");
  }
  std::fflush(stdout);
}

void print_proof(const Communicator& comm, const Verification& pairs, const Proof& proof) {
  if (!comm.is_root()) return;
  fmt::print("\northonormal: V'BV differs from I by at most {:.1e}\n", pairs.orthonormality);
  if (pairs.bounds == BoundKind::probable)
    fmt::print("error bounds: with probability 99.9999%, for the smallest eigenvalue of B is estimated\n");
  if (!proof.statement.empty()) {
    const std::string cost = proof.seconds > 0.0 ? fmt::format(" ({})", duration_text(proof.seconds)) : "";
    fmt::print("proof: {}{}\n", proof.statement, cost);
  }
  std::fflush(stdout);
}

void print_solutions(const Communicator& comm, const SolutionsRecord& solutions) {
  if (!comm.is_root()) return;
  fmt::print("\n{:>5}  {:>11}  {:>9}  {:>9}  {:>10}  {}\n", "side", "norm", "residual", "recursive", "iterations",
             "status");
  for (std::size_t j = 0; j < solutions.rhs_norms.size(); ++j) {
    // Relative to f; a zero right-hand side has the zero solution.
    const double norm = solutions.rhs_norms[j] > 0.0 ? solutions.rhs_norms[j] : 1.0;
    fmt::print("{:>5}  {:>11.5e}  {:>9.1e}  {:>9.1e}  {:>10}  {}\n", j + 1, solutions.rhs_norms[j],
               solutions.residual_norms[j] / norm, solutions.recursive_residual_norms[j] / norm,
               solutions.iterations[j], words(solutions.status[j]));
  }
  std::fflush(stdout);
}

TimesRecord times_record(const Communicator& comm, Profile& profile, double wall_seconds) {
  TimesRecord times;
  const auto add = [&](const char* name, double seconds) {
    times.phases.emplace_back(name);
    times.mean.push_back(comm.sum(seconds) / comm.size());
    times.slowest.push_back(comm.max(seconds));
  };
  if (profile.is_started()) {
    double known = 0.0;
    for (int i = 0; i < static_cast<int>(Phase::count); ++i) {
      const auto phase = static_cast<Phase>(i);
      const double seconds = profile.seconds(phase);
      known += seconds;
      add(name_of(phase), seconds);
    }
    add("other", std::max(0.0, wall_seconds - known));
  }
  add("all", wall_seconds);
  return times;
}

void print_times(const Communicator& comm, const TimesRecord& times) {
  if (!comm.is_root()) return;
  const double wall = times.slowest.back();
  if (times.phases.size() == 1) {
    fmt::print("\ntime in all: {}\n", duration_text(wall));
    return;
  }
  fmt::print("\n{:<16}  {:>9}  {:>9}  {:>6}\n", "time", "mean", "slowest", "share");
  for (std::size_t i = 0; i < times.phases.size(); ++i) {
    fmt::print("{:<16}  {:>7.3f} s  {:>7.3f} s  {:>5.1f}%\n", times.phases[i], times.mean[i], times.slowest[i],
               wall > 0.0 ? 100.0 * times.mean[i] / wall : 0.0);
  }
}

void print_memory(const Communicator& comm, const MemoryRecord& memory) {
  if (!comm.is_root()) return;
  fmt::print("\npeak memory of a rank: {} (predicted {})", bytes_text(memory.host),
             bytes_text(memory.host_predicted));
  if (memory.device > 0.0)
    fmt::print("; GPU memory in use {} (predicted {})", bytes_text(memory.device),
               bytes_text(memory.device_predicted));
  fmt::print("\n");
}

std::vector<double> known_eigenvalues(const RunConfig& config) {
  constexpr double most_rows = 1e7;
  double rows = 1.0;
  for (const GlobalIndex points : config.matrix.laplacian.size) rows *= static_cast<double>(points);
  const bool known = config.matrix.generate.starts_with("laplacian") && !config.mass &&
                     config.eigensolver.options.which == Which::smallest && !config.eigensolver.constraints;
  if (!known || rows > most_rows) return {};
  return closed_form_laplacian_eigenvalues(config.matrix.laplacian, config.eigensolver.options.pairs);
}

}  // namespace block_eigs
