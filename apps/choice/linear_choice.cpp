#include "apps/choice/linear_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace block_eigs {

namespace {

constexpr int narrowest = 3;

/// Jacobi is taken unless it is expected to cost so many times what another one does. On a GPU launches take the
/// time, of which fewer iterations save more than is expected: Chebyshev was faster in all cases measured.
constexpr double much = 1.5;
constexpr double much_on_gpu = 1.2;

/// Of a way that nothing speaks for: taken when all others have come to their end.
constexpr double unlikely = 1e12;

/// Decades to come down, in units of the eight that the numbers below were measured for.
double depth(double tolerance) { return -std::log10(std::max(tolerance, 1e-16)) / 8.0; }

/// Iterations with Jacobi: as the square root of the condition, which is bounded where the diagonal dominates, and
/// goes like rows^(1/d) on meshes of d dimensions. Block Krylov spaces are exhausted after rows over columns.
double expected_iterations(const MatrixTraits& traits, double tolerance, double columns) {
  constexpr double for_one = 3.0;
  const double mesh = for_one * std::pow(traits.rows, 1.0 / traits.mesh_dimension()) * depth(tolerance);
  const double bound = 0.5 * std::sqrt(traits.scaled_condition()) * std::log(2.0 / std::max(tolerance, 1e-16));
  return std::max(1.0, std::min({mesh, bound, 2.0 * traits.rows / columns}));
}

/// Whether something speaks for multigrid: a diffusion, the unknowns' near-null space, an M-matrix's dominance, or
/// at least that nothing speaks against it. Rows that were scaled no longer map smooth vectors to small ones.
double expected_cycles(const MatrixTraits& traits, const PreconditionerConfig& asked, double tolerance) {
  const bool described = asked.amg.coordinates.has_value() || asked.amg.near_null_space.has_value();
  if (traits.like_diffusion() || described) return 12.0 * depth(tolerance);
  if (traits.semidefinite()) return 25.0 * depth(tolerance);
  return traits.badly_scaled() ? unlikely : 60.0 * depth(tolerance);
}

std::string reason_for_jacobi(const MatrixTraits& traits) {
  if (traits.scaled_condition() < 100.0) return "the diagonal dominates: few iterations are expected";
  if (!(traits.least_diagonal > 0.0)) return "the diagonal is not positive";
  return traits.badly_scaled() ? traits.differing_rows() : "it costs next to nothing";
}

/// Costs a block of right-hand sides, with its part of the set-up.
Candidate candidate(const CostModel& costs, const LinearSolverConfig& asked, double blocks,
                    PreconditionerType type, double iterations, const std::string& reason) {
  Candidate result{of_type(asked.preconditioner, type)};
  result.setup = costs.setup(type) / blocks;
  result.step = costs.cg_iteration() + costs.preconditioner(result.preconditioner);
  result.cost = result.setup + iterations * result.step;
  result.reason = reason;
  return result;
}

std::vector<Candidate> candidates_for(const MatrixTraits& traits, const CostModel& costs,
                                      const LinearSolverConfig& asked, GlobalIndex sides) {
  const double blocks = std::ceil(static_cast<double>(sides) / asked.block_size);
  const auto columns = static_cast<double>(std::min<GlobalIndex>(sides, asked.block_size));
  const double plain = expected_iterations(traits, asked.tolerance, columns);
  std::vector<Candidate> result;
  const auto add = [&](PreconditionerType type, double iterations, const std::string& reason) -> Candidate& {
    result.push_back(candidate(costs, asked, blocks, type, iterations, reason));
    return result.back();
  };
  add(PreconditionerType::jacobi, plain, reason_for_jacobi(traits));
  if (traits.least_diagonal > 0.0) {
    // As many products with A, in fewer iterations; more of both where its interval is longer than that of a
    // dominant diagonal. Where few iterations are needed they are hardly fewer.
    constexpr double least = 10.0;
    const double share = std::sqrt(std::max(traits.scaled_norm / 2.0, 1.0)) /
                         std::max(asked.preconditioner.chebyshev.degree - 1, 1);
    Candidate& chebyshev = add(PreconditionerType::chebyshev, std::max(least, share * plain),
                               "its products are cheaper than as many iterations");
    chebyshev.share = share;
    chebyshev.least = least;
    if (!traits.has_hubs())
      add(PreconditionerType::amg, expected_cycles(traits, asked.preconditioner, asked.tolerance),
          traits.reason_for_multigrid());
  }
  add(PreconditionerType::none, unlikely, "nothing else is left");
  return result;
}

}  // namespace

LinearSolverChoice::LinearSolverChoice(const MatrixTraits& traits, const CostModel& costs,
                                       const LinearSolverConfig& asked, GlobalIndex right_hand_sides)
    : asked_(asked),
      costs_(costs),
      columns_(linear_columns(asked, right_hand_sides)),
      scale_free_(traits.scale_free()),
      choice_(candidates_for(traits, costs, asked, right_hand_sides),
              {.first = 15, .horizon = 10.0, .patient = true, .much = costs.launches > 0.0 ? much_on_gpu : much}) {
}

/// Set up for the block at work: that there are others to come is in their favour.
LateCandidate LinearSolverChoice::factors() const {
  if (scale_free_) return {};  // they would be full
  constexpr double iterations = 4.0;
  const auto price = [costs = costs_, columns = columns_](const factors::FactorSize& size) {
    const double step = costs.cg_iteration() + costs.substitution(size, columns);
    return WorkWithFactors{step, iterations * step};
  };
  return direct_candidate(costs_, asked_.preconditioner, price, analyse_);
}

bool LinearSolverChoice::change(Limitation limitation, bool has_solved) {
  const bool by_factors = choice_.current().preconditioner.type == PreconditionerType::direct;
  if (by_factors && has_solved && limitation == Limitation::precision) return false;
  return choice_.change(limitation, factors());
}

LinearSolverConfig LinearSolverChoice::config() const {
  LinearSolverConfig result = asked_;
  result.preconditioner = choice_.current().preconditioner;
  if (!exists_in_float(result.preconditioner)) result.inner_precision = Precision::float64;
  return result;
}

int linear_columns(const LinearSolverConfig& config, GlobalIndex right_hand_sides) {
  return static_cast<int>(
      std::max<GlobalIndex>(std::min<GlobalIndex>(config.block_size, right_hand_sides), narrowest));
}

}  // namespace block_eigs
