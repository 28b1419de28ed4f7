#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tests/battery/reference.hpp"
#include "tests/battery/systems.hpp"

namespace block_eigs::test {

namespace {

/// Whether a text says that a matrix is not positive definite, or singular.
bool names_it(const std::string& text) {
  return text.find("definite") != std::string::npos || text.find("singular") != std::string::npos;
}

/// The norm of every column, which neither overflows nor underflows.
std::vector<double> safe_norms(std::vector<double> x, std::size_t cols) {
  std::vector<double> largest(cols, 0.0);
  for (std::size_t k = 0; k < x.size(); ++k) largest[k % cols] = std::max(largest[k % cols], std::abs(x[k]));
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = largest[k % cols] > 0.0 ? x[k] / largest[k % cols] : 0.0;
  std::vector<double> norms = column_norms(x, cols);
  for (std::size_t c = 0; c < cols; ++c) norms[c] *= largest[c];
  return norms;
}

}  // namespace

Verdict judge_system(const Try& one, const Answer& answer, const RunConfig& config, double epsilon) {
  Verdict verdict;
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::all_of(answer.vectors.begin(), answer.vectors.end(), finite)) {
    return {Status::non_finite, 0.0, 0.0, 0.0, "the solution is not finite: " + answer.remark};
  }
  const auto cols = static_cast<std::size_t>(one.pairs);
  const double scale = scale_of(one.a);
  std::vector<double> f = one.sides.values;
  for (double& value : f) value /= scale;
  std::vector<double> residual = product(one.a, scale, answer.vectors, cols);
  for (std::size_t k = 0; k < f.size(); ++k) residual[k] = f[k] - residual[k];
  const std::vector<double> norms = safe_norms(residual, cols);
  const std::vector<double> lengths = safe_norms(answer.vectors, cols);
  const std::vector<double> wanted = safe_norms(f, cols);
  const double norm_a = infinity_norm(one.a, scale);
  std::size_t undone = 0;
  for (std::size_t j = 0; j < cols; ++j) {
    if (answer.outcomes[j] == Outcome::not_converged) {
      ++undone;
      continue;
    }
    const double size = norm_a * lengths[j] + wanted[j];
    const double limit =
        1.05 * std::max(config.linear_solver.tolerance * wanted[j], 10.0 * epsilon * size) + 4.0 * epsilon * size;
    if (norms[j] > 0.0) verdict.residual = std::max(verdict.residual, norms[j] / limit);
    if (norms[j] <= limit || verdict.status == Status::false_converged) continue;
    verdict.status = Status::false_converged;
    verdict.detail = fmt::format("side {} is called {}: residual {:.2e}, limit {:.2e}, ||f|| = {:.2e}", j,
                                 name_of(answer.outcomes[j]), norms[j] * scale, limit * scale, wanted[j] * scale);
  }
  if (verdict.status != Status::ok) return verdict;
  const bool in_float = epsilon > 1e-10 || config.linear_solver.inner_precision == Precision::float32;
  const bool definite = one.definiteness == Definiteness::definite && one.condition < (in_float ? 1e5 : 1e12);
  if (undone > 0) {
    const bool named = names_it(answer.remark);
    verdict.status = named && definite                                     ? Status::wrong
                     : named && one.definiteness != Definiteness::definite ? Status::refused
                                                                           : Status::not_converged;
    verdict.detail =
        fmt::format("{} of {} sides, condition {:.1e}: {}", cols - undone, cols, one.condition, answer.remark);
  } else if (std::count(answer.outcomes.begin(), answer.outcomes.end(), Outcome::at_accuracy_limit) > 0) {
    verdict.status = Status::at_limit;
  }
  return verdict;
}

Verdict judge_system_error(const Try& one, const std::string& message, int exit_code) {
  const bool named = one.definiteness != Definiteness::definite && names_it(message);
  return {named ? Status::refused : Status::exception, 0.0, 0.0, 0.0,
          fmt::format("exit {}, condition {:.1e}: {}", exit_code, one.condition, message)};
}

}  // namespace block_eigs::test
