#include "apps/input/direct.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/input/shift_search.hpp"
#include "solver/factors/factor_operator.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr factors::Use use{"preconditioner: direct", "use type: auto"};

/// The smaller eigenvalue of [p a; a q], where it is told from zero.
double lesser_of_pair(double p, double q, double a) {
  constexpr double rounding = 1e-14;
  const double value = 0.5 * (p + q) - std::hypot(0.5 * (p - q), a);
  return std::abs(value) > rounding * (std::abs(p) + std::abs(q) + std::abs(a)) ? value : 0.0;
}

/// Of the calling rank's rows of sign A, zero where none is stored.
std::vector<double> own_diagonal(const CsrRows& rows, double sign) {
  std::vector<double> diagonal(rows.row_offsets.empty() ? 0 : rows.row_offsets.size() - 1, 0.0);
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    for (Offset k = rows.row_offsets[i]; k < rows.row_offsets[i + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (rows.columns[at] == rows.row_begin + static_cast<GlobalIndex>(i)) diagonal[i] = sign * rows.values[at];
    }
  }
  return diagonal;
}

/// Gershgorin's discs, of the calling rank's rows of sign A but for those that stand alone, and Rayleigh quotients
/// of unit vectors and of pairs of these, `mass` the diagonal of B or empty.
SpectrumStart own_discs(const CsrRows& rows, const LoneRows& lone, double sign, const std::vector<double>& mass) {
  const std::vector<double> diagonal = own_diagonal(rows, sign);
  const auto of_mass = [&mass](std::size_t i) { return mass.empty() ? 1.0 : mass[i]; };
  // With B, of pairs with a value below zero alone: the larger value of their part of B is at most this sum.
  const auto of_pair = [&](std::size_t i, std::size_t j, double value) {
    if (mass.empty()) return value;
    return value < 0.0 && mass[i] + mass[j] > 0.0 ? value / (mass[i] + mass[j]) : HUGE_VAL;
  };
  SpectrumStart own;
  own.upper_bound = own.lower_bound = HUGE_VAL;
  auto next_alone = lone.rows.begin();
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    if (next_alone != lone.rows.end() && static_cast<std::size_t>(*next_alone) == i) {
      ++next_alone;
      continue;
    }
    if (of_mass(i) > 0.0) own.upper_bound = std::min(own.upper_bound, diagonal[i] / of_mass(i));
    double beside = 0.0;
    for (Offset k = rows.row_offsets[i]; k < rows.row_offsets[i + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const GlobalIndex j = rows.columns[at] - rows.row_begin;
      if (j == static_cast<GlobalIndex>(i)) continue;
      beside += std::abs(rows.values[at]);
      if (j > static_cast<GlobalIndex>(i) && j < static_cast<GlobalIndex>(diagonal.size())) {
        const auto other = static_cast<std::size_t>(j);
        const double value = lesser_of_pair(diagonal[i], diagonal[other], rows.values[at]);
        own.upper_bound = std::min(own.upper_bound, of_pair(i, other, value));
      }
    }
    own.lower_bound = std::min(own.lower_bound, diagonal[i] - beside);
    own.norm = std::max(own.norm, std::abs(diagonal[i]) + beside);
  }
  return own;
}

/// Of sign A x = lambda B x, whose lower end is wanted. With B signs are all that the discs of A tell, and sizes
/// are those of its typical row, or of the lowest value that is sure. Collective.
template <class T>
SpectrumStart spectrum_start(const Problem<T>& problem, const ShiftTarget& target, double sign) {
  const Communicator& comm = problem.context.comm;
  const std::vector<double> mass = problem.b ? own_diagonal(problem.b_rows, 1.0) : std::vector<double>{};
  SpectrumStart start = own_discs(problem.a_rows, problem.lone, sign, mass);
  start.norm = comm.max(start.norm);
  start.upper_bound = -comm.max(-start.upper_bound);
  start.lower_bound = -comm.max(-start.lower_bound);
  const bool semidefinite = start.lower_bound >= -ShiftSearch::rounding(start.norm);
  if (problem.b) {
    start.lower_bound = semidefinite ? 0.0 : -HUGE_VAL;
    const double scale = problem.b->typical_row_sum();
    if (scale > 0.0) start.norm /= scale;
    if (start.upper_bound < 0.0) start.norm = std::max(start.norm, -start.upper_bound);
  } else if (semidefinite) {
    start.lower_bound = std::max(start.lower_bound, 0.0);
  }
  if (target.near) start.near = sign * *target.near;
  start.margin = target.margin;
  start.zero_first = target.at_zero;
  return start;
}

template <class T>
const CsrRows* mass_rows(const Problem<T>& problem) {
  return problem.b ? &problem.b_rows : nullptr;
}

/// Those of rows that stand alone, which are left out of what is iterated on. Collective.
template <class T>
std::int64_t left_out_beyond(const Problem<T>& problem, double sigma, double sign) {
  const std::vector<double>& values = problem.lone.values;
  const std::int64_t own =
      std::count_if(values.begin(), values.end(), [&](double value) { return sign * value <= sign * sigma; });
  return problem.context.comm.sum(own);
}

/// Eigenvalues that a positive definite sign (A - sigma B) must not have. Collective.
template <class T>
std::int64_t beyond(Problem<T>& problem, double sigma, double sign) {
  const factors::Inertia count = problem.factorization->factorize(problem.a_rows, mass_rows(problem), sigma);
  return (sign > 0.0 ? count.below : count.above) + count.at;
}

/// Of the found ones, so many may be beyond: their vectors are locked, and on what is orthogonal to them the
/// factors are definite.
std::int64_t found_beyond(const ShiftTarget& target, double sigma, double sign) {
  return std::count_if(target.found.begin(), target.found.end(),
                       [&](double value) { return sign * value < sign * sigma; });
}

/// For a linear system: A itself, or where it is singular so little more that iterations do not notice.
/// Collective.
template <class T>
double definite_shift(Problem<T>& problem, std::optional<double> given) {
  const double rounding = ShiftSearch::rounding(problem.a->norm_inf());
  double sigma = given.value_or(0.0);
  std::int64_t negative = beyond(problem, sigma, 1.0);
  constexpr int tries = 3;
  for (int i = 0; i < tries && negative > 0 && !given; ++i) {
    sigma = -rounding * std::pow(8.0, i);
    negative = beyond(problem, sigma, 1.0);
  }
  problem.context.comm.collectively([&] {
    require(negative == 0,
            fmt::format("preconditioner: direct: A{} is not positive definite: {} of its eigenvalues "
                        "are negative, by the signs of its pivots (conjugate gradients need a "
                        "positive definite matrix)",
                        given ? " - shift I" : "", negative));
  });
  return sigma;
}

template <class T>
double outer_shift(Problem<T>& problem, const DirectConfig& config, double sign) {
  const Communicator& comm = problem.context.comm;
  const auto side = [&] { return sign > 0.0 ? "below" : "above"; };
  if (config.shift) {
    const std::int64_t count = beyond(problem, *config.shift, sign) -
                               found_beyond(config.target, *config.shift, sign) -
                               left_out_beyond(problem, *config.shift, sign);
    comm.collectively([&] {
      require(
          count <= 0,
          fmt::format("preconditioner.shift: {} eigenvalues are {} {:.6g}, by the signs of pivots; "
                      "it must be {} all of them, or left out to be found",
                      count, side(), std::ldexp(*config.shift, problem.scaling.b - problem.scaling.a), side()));
    });
    return *config.shift;
  }
  const auto others_beyond = [&](double sigma) {
    return beyond(problem, sigma, sign) - found_beyond(config.target, sigma, sign) -
           left_out_beyond(problem, sigma, sign);
  };
  ShiftSearch search(spectrum_start(problem, config.target, sign));
  std::int64_t count = 0;
  while (const std::optional<double> mirrored = search.next()) {
    const double sigma = sign * *mirrored;
    count = others_beyond(sigma);
    if (count <= 0) return sigma;
  }
  throw Agreed<RunError>(RunError(
      fmt::format("preconditioner: direct: no shift was found that is {} all eigenvalues; {} are still beyond "
                  "(give one, preconditioner={{type: direct, shift: ...}}, or use type: auto)",
                  side(), count)));
}

/// "A", "A + 1.2e-03 I", "A - 0.3 B"
std::string shifted_name(double shift, bool with_mass) {
  if (shift == 0.0) return "A";
  return fmt::format("A {} {:.2g} {}", shift < 0.0 ? '+' : '-', std::abs(shift), with_mass ? 'B' : 'I');
}

/// "8.1 million"
std::string in_millions(double count) {
  return count < 1e5 ? fmt::format("{:.0f}", count) : fmt::format("{:.3g} million", 1e-6 * count);
}

}  // namespace

template <class T>
void analyse_factors(Problem<T>& problem) {
  if (problem.factorization) return;
  problem.factorization = std::make_shared<factors::Factorization>(problem.context.comm, problem.a_rows,
                                                                   mass_rows(problem), problem.partition, use);
}

template <class T>
std::optional<factors::FactorSize> foreseen_factors(Problem<T>& problem, LocalIndex columns) {
  if (!factors::available()) return std::nullopt;
  try {
    analyse_factors(problem);
    problem.factorization->require_memory(columns);
  } catch (const Error& error) {
    if (dynamic_cast<const OnAllRanks*>(&error) == nullptr) throw;
    problem.factorization.reset();
    return std::nullopt;
  }
  return problem.factorization->size();
}

template <class T>
Preconditioner<T> make_direct(Problem<T>& problem, const DirectConfig& config) {
  factors::require_available(problem.context.comm, use);
  analyse_factors(problem);
  const double sign = config.target.end == Which::largest ? -1.0 : 1.0;
  Preconditioner<T> result;
  result.shift = config.target.end ? outer_shift(problem, config, sign) : definite_shift(problem, config.shift);
  result.operation = factors::make_operator(problem.context, problem.factorization,
                                            problem.partition.size(problem.context.comm.rank()), sign);
  const factors::FactorSize& size = problem.factorization->size();
  result.made = fmt::format(
      "direct: LDL^T of {}, {} entries, {:.2g} Gflop",
      shifted_name(std::ldexp(result.shift, problem.scaling.b - problem.scaling.a), problem.b != nullptr),
      in_millions(size.entries), 1e-9 * size.flops);
  return result;
}

template <class T>
void factorise_again(Problem<T>& problem, double shift) {
  if (!problem.factorization) return;
  problem.factorization->serve(use);
  problem.factorization->factorize(problem.a_rows, mass_rows(problem), shift);
}

template void analyse_factors(Problem<float>&);
template void analyse_factors(Problem<double>&);
template std::optional<factors::FactorSize> foreseen_factors(Problem<float>&, LocalIndex);
template std::optional<factors::FactorSize> foreseen_factors(Problem<double>&, LocalIndex);
template void factorise_again(Problem<float>&, double);
template void factorise_again(Problem<double>&, double);
template Preconditioner<float> make_direct(Problem<float>&, const DirectConfig&);
template Preconditioner<double> make_direct(Problem<double>&, const DirectConfig&);

}  // namespace block_eigs
