#include "tests/battery/judge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "spmm/error.hpp"
#include "tests/battery/reference.hpp"

namespace block_eigs::test {

namespace {

constexpr std::array status_names{"crash",           "hang",  "exception", "accepted",        "non_finite",
                                  "false_converged", "wrong", "missed",    "not_orthonormal", "not_converged",
                                  "at_limit",        "ok",    "refused"};

/// What the vectors of an answer say, in the units of a reference. Blocks are row-major, n x pairs.
struct Findings {
  std::vector<double> values;
  std::vector<double> residuals;  ///< A x - lambda B x
  std::vector<double> residual_norms, image_norms, norms;
  std::vector<double> limits;  ///< of residual_norms, with what rounding adds when they are computed again
  double orthogonality = 0.0;  ///< max |V'BV - I|
};

double orthogonality(const std::vector<double>& x, const std::vector<double>& bx, std::size_t cols) {
  std::vector<double> gram(cols * cols, 0.0);
  for (std::size_t row = 0; row < x.size(); row += cols) {
    for (std::size_t p = 0; p < cols; ++p) {
      for (std::size_t q = 0; q < cols; ++q) gram[p * cols + q] += x[row + p] * bx[row + q];
    }
  }
  double error = 0.0;
  for (std::size_t p = 0; p < cols; ++p) {
    for (std::size_t q = 0; q < cols; ++q) {
      error = std::max(error, std::abs(gram[p * cols + q] - (p == q ? 1.0 : 0.0)));
    }
  }
  return error;
}

Findings examine(const Try& one, const Answer& answer, const Reference& reference) {
  const std::size_t cols = answer.values.size();
  Findings found;
  for (const double value : answer.values) found.values.push_back(value / reference.scale);
  const std::vector<double> bx = one.b ? product(*one.b, 1.0, answer.vectors, cols) : answer.vectors;
  found.residuals = product(one.a, reference.scale, answer.vectors, cols);
  for (std::size_t k = 0; k < bx.size(); ++k) found.residuals[k] -= bx[k] * found.values[k % cols];
  found.residual_norms = column_norms(found.residuals, cols);
  found.image_norms = column_norms(bx, cols);
  found.norms = column_norms(answer.vectors, cols);
  found.orthogonality = orthogonality(answer.vectors, bx, cols);
  return found;
}

bool all_finite(const Answer& answer) {
  const auto finite = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
  };
  return finite(answer.values) && finite(answer.vectors);
}

double tolerance_of(const LobpcgOptions& options, const Reference& reference, double lambda, double image_norm,
                    double norm) {
  switch (options.convergence) {
    case Convergence::relative:
      return options.tolerance * std::abs(lambda) * image_norm;
    case Convergence::norm:
      return options.tolerance * (reference.norm_a + std::abs(lambda) * reference.norm_b) * norm;
    case Convergence::absolute:
      return options.tolerance / reference.scale;
  }
  return 0.0;
}

void set_limits(const LobpcgOptions& options, double epsilon, const Reference& reference,
                const std::vector<Outcome>& outcomes, Findings& found) {
  constexpr double slack = 1.05;
  // What is called at its limit is so by errors of sums, which grow with the root of more than a hundred terms.
  const double long_rows = std::sqrt(std::max(1.0, reference.mean_row / 100.0));
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    const double size = (reference.norm_a + std::abs(found.values[i]) * reference.norm_b) * found.norms[i];
    const double tolerance =
        tolerance_of(options, reference, found.values[i], found.image_norms[i], found.norms[i]);
    const double rounding = 10.0 * epsilon * (outcomes[i] == Outcome::at_accuracy_limit ? long_rows : 1.0);
    found.limits.push_back(slack * std::max(tolerance, rounding * size) + 4.0 * epsilon * size);
  }
}

/// Residuals of pairs called done against their limits.
void check_residuals(const Answer& answer, const Reference& reference, const Findings& found, Verdict& verdict) {
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    if (answer.outcomes[i] == Outcome::not_converged) continue;
    const double limit = found.limits[i];
    const double ratio = found.residual_norms[i] <= limit ? (limit > 0.0 ? found.residual_norms[i] / limit : 0.0)
                                                          : found.residual_norms[i] / limit;
    verdict.residual = std::max(verdict.residual, ratio);
    if (ratio <= 1.0 || verdict.status < Status::false_converged) continue;
    verdict.status = Status::false_converged;
    verdict.detail = fmt::format("pair {} is called {}: residual {:.2e}, limit {:.2e} (||A|| = {:.2e})", i,
                                 name_of(answer.outcomes[i]), found.residual_norms[i] * reference.scale,
                                 limit * reference.scale, reference.norm_a * reference.scale);
  }
}

/// The i-th value against the i-th eigenvalue. Where residuals are smaller than they had to be, the bound is that
/// of residuals at their limits: nobody asked that closer eigenvalues be told apart.
void check_values(const Try& one, const Reference& reference, Findings found, Verdict& verdict) {
  const std::size_t cols = found.values.size();
  const double smallest = std::max(0.1, 1.0 - static_cast<double>(cols) * found.orthogonality);
  weigh_residuals(reference, one.a.size, found.residuals);
  const std::vector<double> norms = column_norms(found.residuals, cols);
  double squares = 0.0;
  for (std::size_t i = 0; i < cols; ++i) {
    const double reached = found.residual_norms[i];
    const double permitted = reached > 0.0 ? norms[i] * std::max(1.0, found.limits[i] / reached) : found.limits[i];
    squares += permitted * permitted;
    const double allowed = std::sqrt(squares / smallest) + reference.allowance;
    const std::size_t place = i + static_cast<std::size_t>(one.constraints);
    const double exact =
        one.largest ? reference.exact[reference.exact.size() - 1 - place] : reference.exact[place];
    const double beyond = one.largest ? exact - found.values[i] : found.values[i] - exact;
    const double ratio = std::abs(beyond) > 0.0 ? std::abs(beyond) / allowed : 0.0;
    verdict.value_error = std::max(verdict.value_error, ratio);
    if (ratio <= 1.0 || verdict.status <= Status::missed) continue;
    verdict.status = beyond > 0.0 ? Status::missed : Status::wrong;
    verdict.detail =
        fmt::format("value {} is {:.10g}, the eigenvalue {:.10g}, allowed {:.1e}", i,
                    found.values[i] * reference.scale, exact * reference.scale, allowed * reference.scale);
  }
}

/// A mass matrix that is none: exit 4 says at least that something is wrong.
Verdict accepted_mass(const Answer& answer) {
  const auto done = std::count_if(answer.outcomes.begin(), answer.outcomes.end(),
                                  [](Outcome outcome) { return outcome != Outcome::not_converged; });
  const bool all = done == static_cast<std::ptrdiff_t>(answer.outcomes.size());
  return {all ? Status::accepted : Status::not_converged, 0.0, 0.0, 0.0,
          fmt::format("a mass that is not positive definite was not noticed, {} of {} done: {}", done,
                      answer.outcomes.size(), answer.remark)};
}

bool in_order(const Answer& answer, bool largest) {
  return largest ? std::is_sorted(answer.values.rbegin(), answer.values.rend())
                 : std::is_sorted(answer.values.begin(), answer.values.end());
}

}  // namespace

const char* name_of(Status status) { return status_names[static_cast<std::size_t>(status)]; }

bool is_fault(Status status) { return status < Status::not_converged; }

Verdict judge(const Try& one, const Answer& answer, const LobpcgOptions& options, double epsilon) {
  Verdict verdict;
  if (!all_finite(answer)) return {Status::non_finite, 0.0, 0.0, 0.0, "values or vectors are not finite"};
  if (must_be_refused(one.mass)) return accepted_mass(answer);
  const Reference reference = make_reference(one);
  Findings found = examine(one, answer, reference);
  set_limits(options, epsilon, reference, answer.outcomes, found);
  check_residuals(answer, reference, found, verdict);
  const auto count = [&](Outcome outcome) {
    return std::count(answer.outcomes.begin(), answer.outcomes.end(), outcome);
  };
  const double allowed = std::max(epsilon > 1e-10 ? 1e-4 : 1e-10, 10.0 * epsilon * reference.condition);
  verdict.orthogonality = found.orthogonality / allowed;
  if (count(Outcome::not_converged) > 0) {
    if (verdict.status != Status::ok) return verdict;
    verdict.status = Status::not_converged;
    verdict.detail =
        fmt::format("{} of {}, ||V'BV - I|| {:.1e}: {}", options.pairs - count(Outcome::not_converged),
                    options.pairs, found.orthogonality, answer.remark);
    return verdict;
  }
  check_values(one, reference, found, verdict);
  if (is_fault(verdict.status)) verdict.detail += fmt::format(" (tolerance {:g})", options.tolerance);
  if (verdict.status == Status::ok && !in_order(answer, one.largest)) {
    verdict.status = Status::wrong;
    verdict.detail = "values are not in order";
  }
  if (verdict.status == Status::ok && verdict.orthogonality > 1.0) {
    verdict.status = Status::not_orthonormal;
    verdict.detail = fmt::format("||V'BV - I|| = {:.1e}, allowed {:.1e}", found.orthogonality, allowed);
  }
  if (verdict.status == Status::ok && count(Outcome::at_accuracy_limit) > 0) verdict.status = Status::at_limit;
  return verdict;
}

Verdict judge_error(const Try& one, const RunConfig& config, const std::string& message, int exit_code) {
  const auto names = [&](const char* word) { return message.find(word) != std::string::npos; };
  Verdict verdict{Status::exception, 0.0, 0.0, 0.0, fmt::format("exit {}: {}", exit_code, message)};
  const bool input = exit_code == static_cast<int>(ExitCode::invalid_input);
  if (input && must_be_refused(one.mass)) verdict.status = Status::refused;
  if (one.mode == Mode::defaults || verdict.status == Status::refused) return verdict;
  const Reference reference = make_reference(one);
  const bool in_float = config.precision == Precision::float32;
  const double epsilon = in_float ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  const double size = reference.norm_a * reference.scale;
  const bool fits_float = size < 1e37 && (size > 1e-30 || size == 0.0);
  const bool mass_in_float = epsilon * reference.condition < 0.01;
  if (input && in_float && (!fits_float || (names("mass") && !mass_in_float))) verdict.status = Status::refused;
  // Preconditioners are made from A, which must then be positive definite.
  const double definite =
      reference.exact.empty() ? 0.0 : reference.exact.front() / std::max(1e-300, reference.exact.back());
  if (names("preconditioner") && definite < 1e3 * epsilon) verdict.status = Status::refused;
  return verdict;
}

}  // namespace block_eigs::test
