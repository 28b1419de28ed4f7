#include "apps/report/summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "apps/report/json.hpp"
#include "apps/report/text.hpp"

namespace block_eigs {

namespace {

std::int64_t count(const std::vector<bool>& flags) { return std::count(flags.begin(), flags.end(), true); }

JsonObject begin(const std::string& program, ExitCode code) {
  JsonObject object;
  object.add("program", program);
  object.add("version", version());
  object.add("exit_code", static_cast<std::int64_t>(code));
  return object;
}

void add_run(JsonObject& object, const RunRecord& run, const std::string& file) {
  object.add("matrix", run.matrix);
  object.add("rows", run.rows);
  object.add("nonzeros", run.nonzeros);
  object.add("ranks", run.ranks);
  object.add("device", run.device);
  if (!run.preconditioners.empty()) object.add("preconditioner", run.preconditioners.back().description);
  object.add("iterations", run.iterations);
  object.add("setup_seconds", run.setup_seconds);
  object.add("solve_seconds", run.solve_seconds);
  if (!run.times.slowest.empty()) object.add("seconds", run.times.slowest.back());
  object.add("memory_bytes", run.memory.host);
  object.add("result", file);
  object.add("remark", run.remark);
}

double largest(const std::vector<double>& values) {
  double most = 0.0;
  for (const double value : values) {
    if (!std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
    most = std::max(most, value);
  }
  return most;
}

}  // namespace

std::string summary(const RunRecord& run, const PairsRecord& pairs, const std::string& file, ExitCode code) {
  JsonObject object = begin(run.program, code);
  object.add("pairs", static_cast<std::int64_t>(pairs.eigenvalues.size()));
  object.add("converged", count(pairs.converged));
  object.add("eigenvalues", pairs.eigenvalues);
  object.add("error_bounds", pairs.error_bounds);
  object.add("status", pairs.status);
  object.add("attained_tolerance", largest(pairs.attained_tolerances));
  object.add("requested_tolerance", pairs.requested_tolerance);
  object.add("proof", pairs.proof.made);
  object.add("missing", pairs.proof.missing);
  add_run(object, run, file);
  return object.line();
}

std::string summary(const RunRecord& run, const SolutionsRecord& solutions, const std::string& file,
                    ExitCode code) {
  JsonObject object = begin(run.program, code);
  object.add("right_hand_sides", static_cast<std::int64_t>(solutions.rhs_norms.size()));
  object.add("converged", count(solutions.converged));
  object.add("rhs_norms", solutions.rhs_norms);
  object.add("residual_norms", solutions.residual_norms);
  object.add("status", solutions.status);
  add_run(object, run, file);
  return object.line();
}

std::string summary(const std::string& program, const std::string& error, ExitCode code) {
  JsonObject object = begin(program, code);
  object.add("error", error);
  return object.line();
}

}  // namespace block_eigs
