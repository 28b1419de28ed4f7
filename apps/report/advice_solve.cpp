#include "apps/report/advice_solve.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "apps/report/text.hpp"

namespace block_eigs {

namespace {

/// Fewer iterations tell nothing of the rate.
constexpr std::size_t shortest_course = 8;
/// Another preconditioner is advised where so many times the iterations allowed would be needed.
constexpr double patience = 3.0;
/// Estimates beyond are no numbers to plan with.
constexpr double longest_estimate = 1e7;

constexpr const char* other_method =
    "MINRES (scipy.sparse.linalg.minres, PETSc's -ksp_type minres) or a sparse LDL^T factorisation";

std::string preconditioner(const char* type) {
  return fmt::format("linear_solver.preconditioner={{type: {}}}", type);
}

double worst_residual(const UnfinishedSolve& run) {
  double worst = 0.0;
  for (std::size_t j = 0; j < run.outcomes.size(); ++j) {
    if (run.outcomes[j] == Outcome::not_converged) worst = std::max(worst, run.residuals[j]);
  }
  return worst;
}

/// `auto` in place of a preconditioner that was named; empty where it was at work, or has nothing stronger. Advice
/// leads from names to `auto` and never back, so that no two runs advise each other.
std::string other_preconditioner(const UnfinishedSolve& run, PreconditionerType type) {
  const bool nothing_else = !run.signs.all_positive && type != PreconditionerType::none;
  return run.tried.empty() && !nothing_else ? preconditioner("auto") : "";
}

/// The same where it may be a stronger one: `auto` goes on to factors where multigrid does not do.
std::string stronger_preconditioner(const UnfinishedSolve& run, PreconditionerType type) {
  const bool strongest = type == PreconditionerType::direct || type == PreconditionerType::petsc;
  return strongest ? "" : other_preconditioner(run, type);
}

Advice on_iterations(const UnfinishedSolve& run, const LinearSolverConfig& solver) {
  const int allowed = solver.max_iterations;
  const double needed = estimated_iterations(run.course, solver.tolerance);
  const std::string stronger = stronger_preconditioner(run, solver.preconditioner.type);
  if (needed == 0.0) {
    const bool short_run = run.course.size() < shortest_course;
    Advice advice{short_run ? "" : "the residuals did not fall in the last iterations", stronger, ""};
    // Without rounding errors there are no more steps than rows.
    if (!short_run && stronger.empty() && run.rows > 0.0 && static_cast<double>(run.course.size()) >= run.rows) {
      advice.other =
          "preconditioner: {type: direct}, where this build has MUMPS: more iterations than A has rows promise "
          "nothing";
    } else if (short_run || stronger.empty()) {
      advice.change =
          fmt::format("linear_solver.max_iterations={}", std::max(1000, 4 * std::min(allowed, 1 << 28)));
    }
    return advice;
  }
  Advice advice{fmt::format("at the rate of the last ones about {} are needed",
                            count_text(static_cast<std::int64_t>(rounded_up(std::min(needed, longest_estimate))))),
                stronger, ""};
  if (needed <= patience * allowed || stronger.empty()) {
    advice.change =
        fmt::format("linear_solver.max_iterations={:.0f}", rounded_up(1.3 * std::min(needed, longest_estimate)));
  }
  return advice;
}

Advice on_indefinite_matrix(const UnfinishedSolve& run) {
  if (run.signs.all_negative) {
    return {"all diagonal entries of A are negative", "", "where -A is positive definite, solve -A x = -f"};
  }
  return {"", "", std::string("a method for indefinite matrices: ") + other_method};
}

Advice on_preconditioner(const UnfinishedSolve& run, const PreconditionerConfig& config) {
  if (run.findings.indefinite_matrix) return on_indefinite_matrix(run);
  if (run.tried.empty() && config.type == PreconditionerType::amg && config.amg.precision == Precision::float32) {
    return {"", "linear_solver.preconditioner.precision=double", ""};
  }
  if (run.tried.empty()) return {"", preconditioner("auto"), ""};
  return {"", "", other_method};
}

Advice on_rounding(const UnfinishedSolve& run, const RunConfig& config) {
  const double worst = worst_residual(run);
  const std::string reached = fmt::format("the largest relative residual left is {:.1e}", worst);
  if (config.precision == Precision::float32) return {reached, "precision=double", ""};
  const PreconditionerType type = config.linear_solver.preconditioner.type;
  if (worst > 0.01) {
    const std::string stronger = stronger_preconditioner(run, type);
    if (!stronger.empty()) return {reached, stronger, ""};
    return {reached, "", "another scaling of the rows and columns of A"};
  }
  return {reached, fmt::format("linear_solver.tolerance={:.0e}", 2.0 * worst), ""};
}

Advice on_singular_matrix(const RunConfig& config) {
  if (config.precision == Precision::float32) return {"", "precision=double", ""};
  return {"", "",
          "take the null vectors of A (block-eigs finds them: the eigenvectors to eigenvalue zero) out of the "
          "right-hand "
          "sides, or fix as many unknowns"};
}

Advice on_large_solution(const RunConfig& config) {
  if (config.precision == Precision::float32) return {"", "precision=double", ""};
  return {"", "",
          "another scaling of the rows and columns of A, or A + s I with a small s > 0 in its place: no digit of "
          "these "
          "solutions is certain in double"};
}

Advice on_range(const RunConfig& config) {
  if (config.precision == Precision::float32) return {"", "precision=double", ""};
  return {"", "", "numbers nearer to 1: scale the matrix or the right-hand sides"};
}

std::string quoted(const std::string& word) {
  const bool plain = word.find_first_of(" {}[]*?&;|<>()$`\"'\\#~!") == std::string::npos;
  if (plain) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// Whether `change` sets what `earlier` has set, or a part or the whole of it.
bool replaces(const std::string& change, const std::string& earlier) {
  const std::string key = change.substr(0, change.find('='));
  return earlier.substr(0, earlier.find('=')) == key || earlier.starts_with(key + ".");
}

}  // namespace

double rounded_up(double value) {
  const double unit = std::pow(10.0, std::max(0.0, std::floor(std::log10(value)) - 1.0));
  return unit * std::ceil(value / unit);
}

template <class T>
UnfinishedSolve unfinished_solve(const BlockCgResult<T>& result, const SolutionCheck& checked) {
  UnfinishedSolve run;
  run.findings = result.findings;
  run.outcomes = checked.outcomes;
  std::size_t slowest = run.outcomes.size();
  for (std::size_t j = 0; j < run.outcomes.size(); ++j) {
    run.residuals.push_back(checked.rhs_norms[j] > 0.0 ? checked.residual_norms[j] / checked.rhs_norms[j] : 0.0);
    if (run.outcomes[j] != Outcome::not_converged) continue;
    if (slowest == run.outcomes.size() || run.residuals[j] > run.residuals[slowest]) slowest = j;
  }
  // A right-hand side that was nothing to the solver took no iterations.
  if (slowest == run.outcomes.size() || !(result.rhs_norms[slowest] > 0.0)) return run;
  // Before its turn a right-hand side has ||f||, after it what was reached.
  const auto same = [&](const BlockCgIteration& a, const BlockCgIteration& b) {
    return a.residual_norms[slowest] == b.residual_norms[slowest];
  };
  std::size_t last = result.history.size();
  while (last > 1 && same(result.history[last - 1], result.history[last - 2])) --last;
  const auto taken = static_cast<std::size_t>(std::max(result.iterations[slowest], 0));
  for (std::size_t k = last - std::min(last, taken); k < last; ++k) {
    run.course.push_back(result.history[k].residual_norms[slowest] / result.rhs_norms[slowest]);
  }
  return run;
}

double estimated_iterations(std::span<const double> course, double tolerance) {
  if (course.size() < shortest_course || !(tolerance > 0.0)) return 0.0;
  // Residuals of conjugate gradients go up and down: what counts is the least so far.
  const std::size_t middle = course.size() / 2;
  const double before = *std::min_element(course.begin(), course.begin() + static_cast<std::ptrdiff_t>(middle));
  const double after = *std::min_element(course.begin(), course.end());
  if (!(after > 0.0) || !(after < before)) return 0.0;
  const double rate = std::log(before / after) / static_cast<double>(course.size() - middle);
  const double left = std::max(0.0, std::log(after / tolerance)) / rate;
  return static_cast<double>(course.size()) + std::ceil(left);
}

Advice advise(const UnfinishedSolve& run, const RunConfig& config) {
  switch (run.findings.end) {
    case BlockCgEnd::stopped:
    case BlockCgEnd::out_of_iterations:
      return on_iterations(run, config.linear_solver);
    case BlockCgEnd::too_large:
      return on_large_solution(config);
    case BlockCgEnd::singular_matrix:
      return on_singular_matrix(config);
    case BlockCgEnd::indefinite_matrix:
      return on_indefinite_matrix(run);
    case BlockCgEnd::indefinite_preconditioner:
      return on_preconditioner(run, config.linear_solver.preconditioner);
    case BlockCgEnd::beyond_range:
      return on_range(config);
    case BlockCgEnd::solved:  // by the solver's precision, not by that of the verification
    case BlockCgEnd::at_rounding:
      break;
  }
  return on_rounding(run, config);
}

Advice go_on_from_result(const std::string& file, const std::string& key, const std::string& dataset) {
  if (file.empty()) return {"there are no vectors to go on from, for 'output' asks for none", "", ""};
  return {"", fmt::format("{}={{file: {}, dataset: {}}}", key, file, dataset), "", true};
}

std::string advice_text(const Advice& advice, const std::string& program, const std::string& config_file,
                        std::span<const std::string> overrides) {
  std::string text = advice.reason;
  if (advice.change.empty() && advice.other.empty()) return text;
  text += text.empty() ? "" : "; ";
  text += advice.goes_on ? "to go on: " : "try: ";
  if (advice.change.empty()) return text + advice.other;
  text += program + " " + quoted(config_file);
  for (const std::string& earlier : overrides) {
    if (!replaces(advice.change, earlier)) text += " " + quoted(earlier);
  }
  return text + " " + quoted(advice.change);
}

template UnfinishedSolve unfinished_solve(const BlockCgResult<float>&, const SolutionCheck&);
template UnfinishedSolve unfinished_solve(const BlockCgResult<double>&, const SolutionCheck&);

}  // namespace block_eigs
