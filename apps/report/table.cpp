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

/// Of all ranks: the mean and the most.
struct Share {
  double mean = 0.0;
  double most = 0.0;
};

Share share_of(const Communicator& comm, double seconds) {
  return {comm.sum(seconds) / comm.size(), comm.max(seconds)};
}

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

void print_times(const Communicator& comm, Profile& profile, double wall_seconds) {
  const double wall = comm.max(wall_seconds);
  double known = 0.0;
  std::string text = fmt::format("\n{:<16}  {:>9}  {:>9}  {:>6}\n", "time", "mean", "slowest", "share");
  const auto line = [&](const char* name, Share share) {
    text += fmt::format("{:<16}  {:>7.3f} s  {:>7.3f} s  {:>5.1f}%\n", name, share.mean, share.most,
                        wall > 0.0 ? 100.0 * share.mean / wall : 0.0);
  };
  for (int i = 0; i < static_cast<int>(Phase::count); ++i) {
    const auto phase = static_cast<Phase>(i);
    const double seconds = profile.seconds(phase);
    known += seconds;
    line(name_of(phase), share_of(comm, seconds));
  }
  line("other", share_of(comm, std::max(0.0, wall_seconds - known)));
  line("all", share_of(comm, wall_seconds));
  if (comm.is_root()) fmt::print("{}", text);
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
