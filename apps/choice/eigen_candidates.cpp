#include "apps/choice/eigen_candidates.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "solver/small/lowest_dense_vectors.hpp"

namespace block_eigs {

namespace {

/// Iterations, or degrees of filters, for the end of the spectrum that is far from zero, where nobody looked.
constexpr double expected_at_far_end = 100.0;

/// Degrees of filters, and iterations with a diagonal, for each step of Lanczos that tells the wanted eigenvalues
/// from others, and beside these. Measured: 0.4 to 1.8 times as many (theory.md, "auto").
constexpr double degrees_of_step = 14.0;
constexpr double least_degrees = 40.0;

/// Eigenvalues to be told from others: those that are wanted and guard vectors', where not all that are wanted lie
/// by themselves.
int to_be_told(const SpectrumEnd& end, const LobpcgOptions& options) {
  return options.pairs <= end.isolated ? options.pairs : options.block_size;
}

double degrees_at(const SpectrumEnd& end, int columns) {
  // Few steps do not tell how far single values are from others.
  constexpr double least_steps = 12.0;
  return least_degrees + degrees_of_step * std::max(end.steps_for(columns), least_steps);
}

/// For the lowest of `rows` eigenvalues. Where nobody looked, of a mesh: the square root of the ratio of the norm
/// to the distances between wanted eigenvalues, which on a mesh of d dimensions goes like a power 1/d of rows over
/// columns.
double expected_degrees(const MatrixTraits& traits, const SpectrumEnd& end, int columns) {
  if (end.known) return degrees_at(end, columns);
  constexpr double for_one = 25.0;
  if (!traits.like_diffusion()) return 12.0 * for_one;
  return for_one * std::pow(std::max(traits.rows / columns, 1.0), 1.0 / traits.mesh_dimension());
}

/// Iterations with Jacobi, which are about as many. Where there are hubs, paths between any two rows are short:
/// rows scaled alike, eigenvalues do not come as close to zero as those of a mesh.
double expected_with_jacobi(const MatrixTraits& traits, double degrees) {
  constexpr double with_hubs = 75.0;
  return traits.has_hubs() ? std::min(with_hubs, degrees) : degrees;
}

/// Iterations with a cycle of multigrid. It brings forth eigenvectors by how their values differ in parts of
/// themselves: of a long box, whose values begin far from zero, 97 and 244 were taken for 30 pairs and for 1. Of
/// what is of higher order the cycle leaves a part that grows with the mesh: 50 and 39 were taken for 8 and 50
/// pairs of a cube of 20^3 points, 246 and 126 for a plate of 100^2.
double expected_with_multigrid(const MatrixTraits& traits, int columns) {
  constexpr double of_diffusion = 18.0;
  constexpr double of_root = 8.0;
  constexpr double of_extent = 10.0;
  const SpectrumEnd& end = traits.wanted_end;
  double steps = traits.semidefinite() ? 25.0 : 60.0;
  if (traits.like_diffusion()) steps = of_diffusion;
  if (traits.of_higher_order()) steps = of_root * std::sqrt(traits.alike_lower().steps_for(columns));
  if (end.known) steps = std::max(steps, of_extent / std::sqrt(end.relative_extent(columns)));
  return std::max(steps, of_diffusion);
}

/// Costs in iterations of LOBPCG, or degrees of a filter.
class Candidates {
 public:
  /// As many steps are taken for each of so many windows of columns.
  Candidates(const CostModel& costs, const PreconditionerConfig& asked, double windows)
      : costs_(costs), asked_(asked), windows_(windows) {}

  Candidate& add(PreconditionerType type, bool filtered, double steps, const std::string& reason) {
    return add(Candidate{of_type(asked_, type), filtered}, steps, reason);
  }
  void add_of_mass(PreconditionerType type, double steps, const std::string& reason, int degree_factor = 1) {
    Candidate candidate{of_type(asked_, type)};
    candidate.preconditioner.of = PreconditionedMatrix::mass;
    candidate.preconditioner.chebyshev.degree *= degree_factor;
    add(std::move(candidate), steps, reason);
  }
  void add_dense(double cost, const std::string& reason) {
    Candidate candidate{of_type(asked_, PreconditionerType::none)};
    candidate.dense = true;
    candidate.step = candidate.cost = cost;
    candidate.reason = reason;
    found_.push_back(std::move(candidate));
  }
  std::vector<Candidate> take() { return std::move(found_); }

 private:
  Candidate& add(Candidate candidate, double steps, const std::string& reason) {
    candidate.setup = costs_.setup(candidate.preconditioner.type);
    // What may follow filters are iterations.
    candidate.step = costs_.iteration() + costs_.preconditioner(candidate.preconditioner);
    candidate.cost = candidate.setup + windows_ * steps * (candidate.filtered ? costs_.degree() : candidate.step);
    candidate.reason = reason;
    found_.push_back(std::move(candidate));
    return found_.back();
  }

  const CostModel& costs_;
  const PreconditionerConfig& asked_;
  double windows_;
  std::vector<Candidate> found_;
};

/// For an end of the spectrum that is far from zero: what is large there is B^-1 as much as A.
void add_those_of_mass(const MassTraits& mass, Candidates& result) {
  const char* reason = "the gradient of the Rayleigh quotient is B^-1 (A x - lambda B x)";
  if (mass.diagonal_ratio > 1.0) result.add_of_mass(PreconditionerType::jacobi, expected_at_far_end, reason);
  // Where B is diagonal that is the inverse itself; mass matrices of finite elements are nearly so. Others are
  // not.
  if (!(mass.scaled_norm > 1.0)) return;
  constexpr double with_polynomial = 0.8 * expected_at_far_end;
  constexpr int longer = 4;
  result.add_of_mass(PreconditionerType::chebyshev, with_polynomial, reason);
  result.add_of_mass(PreconditionerType::chebyshev, with_polynomial, reason, longer);
}

void add_for_far_end(const MatrixTraits& traits, const std::optional<MassTraits>& mass, bool can_filter,
                     int columns, Candidates& result) {
  const char* reason = "one of A would amplify the lower end of the spectrum";
  const double steps = traits.wanted_end.known ? degrees_at(traits.wanted_end, columns) : expected_at_far_end;
  if (can_filter) result.add(PreconditionerType::none, true, steps, reason);
  const double unequal = mass ? std::sqrt(mass->diagonal_ratio) : 1.0;
  // A degree of filters brings about as much as an iteration.
  result.add(PreconditionerType::none, false, unequal * steps, reason).share = 1.0;
  if (mass) add_those_of_mass(*mass, result);
}

void add_for_near_end(const MatrixTraits& traits, const std::optional<MassTraits>& mass, bool can_filter,
                      int columns, Candidates& result) {
  // The lower end of an indefinite matrix is no end that D^-1 or an inverse would bring near.
  const bool varied = traits.badly_scaled() && !traits.reaches_down() && !traits.plainly_indefinite();
  const double degrees = expected_degrees(traits, traits.wanted_end, columns);
  const double alike = expected_degrees(traits, traits.alike_lower(), columns);
  const double with_jacobi = expected_with_jacobi(traits, alike);
  // Chebyshev preconditioning takes a twelfth of the filters' degrees in iterations of LOBPCG, Jacobi nearly all.
  if (can_filter && !varied) result.add(PreconditionerType::none, true, degrees, "filters need nothing but A");
  if (can_filter && varied) {
    result.add(PreconditionerType::jacobi, false, with_jacobi, traits.differing_rows());
    // Filters have one norm for all rows.
    const double factor = traits.norm_inf / traits.least_row;
    const double unequal = traits.wanted_end.known ? 1.0 : std::sqrt(factor / 100.0);
    Candidate& filters =
        result.add(PreconditionerType::none, true, unequal * degrees, "filters need nothing but A");
    // Wanted vectors of power-law graphs are of rows as short as the shortest: the condition of A is as many times
    // that of D^-1 A, and its root was half of sqrt(factor).
    if (traits.scale_free()) filters.share = std::sqrt(factor) / 4.0;
  }
  // Its interval is as long as D^-1 A is large, which is 2 where the diagonal dominates.
  double with_chebyshev = (20.0 + alike / 12.0) * std::sqrt(std::max(traits.scaled_norm / 2.0, 1.0));
  // Where hubs make paths short the wanted values are among the others of D^-1 A, and no polynomial tells them
  // apart: of Jacobi's iterations 0.6 to 0.8 were taken, whatever their number. Products with such rows take
  // longer than their bytes say, on GPUs above all: the upper end.
  const double of_jacobi = traits.scale_free() ? 0.8 : 0.0;
  with_chebyshev = std::max(with_chebyshev, of_jacobi * with_jacobi);
  result.add(PreconditionerType::chebyshev, false, with_chebyshev, "it needs nothing but A").share = of_jacobi;
  if (!can_filter && !varied)
    result.add(PreconditionerType::jacobi, false, with_jacobi, "it costs next to nothing");
  // Multigrid amplifies eigenvectors of small values by their inverse, and those of rows that stand alone with a
  // zero hardly: these would be passed over.
  if (traits.least_diagonal > 0.0 && !traits.null_rows && !traits.has_hubs() && !traits.nearly_full()) {
    Candidate& multigrid = result.add(PreconditionerType::amg, false, expected_with_multigrid(traits, columns),
                                      traits.reason_for_multigrid());
    multigrid.guessed = !traits.like_diffusion() && !traits.semidefinite();
  }
  // Some eigenvalue is below zero, or all are zero: the lower end may be as far from zero as the upper.
  if (mass && !(traits.least_diagonal > 0.0) && !traits.semidefinite()) add_those_of_mass(*mass, result);
}

/// Where rows differ in size its rounding errors hide small values, with B those of a Cholesky factor besides,
/// which iterations do not have. Parts that nothing couples are solved one by one and hide nothing of each other;
/// to iterations the small values of some are rounding errors of others.
void add_dense(const MatrixTraits& traits, const std::optional<MassTraits>& mass, const CostModel& costs,
               const LobpcgOptions& options, Candidates& result) {
  constexpr double alike = 100.0;
  constexpr double at_once = 1e-6;
  if (traits.rows > static_cast<double>(options.dense_up_to)) return;
  if (!mass && traits.nearly_full()) {
    result.add_dense(costs.dense, "the matrix is small and nearly full");
  } else if (traits.falls_apart()) {
    // Where rows differ iterations may well end with values that are none: there it comes first, whatever it
    // costs.
    const bool first = traits.badly_scaled() || (mass && mass->diagonal_ratio > alike);
    result.add_dense((first ? at_once : 1.0) * dense_cost(traits, mass.has_value(), costs, options.pairs),
                     "nothing couples the matrix's parts, which are small");
  } else if (!traits.badly_scaled() && (!mass || mass->diagonal_ratio <= alike)) {
    result.add_dense(dense_cost(traits, mass.has_value(), costs, options.pairs),
                     "iterations for so many pairs are expected to cost more");
  }
}

}  // namespace

double dense_cost(const MatrixTraits& traits, bool with_mass, const CostModel& costs, int pairs) {
  constexpr double differing = 1e3;
  const bool refined =
      traits.rows <= most_rows_of_refined_pencils && (with_mass || traits.norm_inf > differing * traits.least_row);
  return refined ? costs.dense_with_refined(pairs) : costs.dense;
}

std::vector<Candidate> eigen_candidates(const MatrixTraits& traits, const std::optional<MassTraits>& mass,
                                        const CostModel& costs, const EigensolverConfig& asked) {
  const LobpcgOptions& options = asked.options;
  const double windows = std::max(1.0, static_cast<double>(options.pairs) / block_width(options));
  Candidates result(costs, asked.preconditioner, windows);
  if (options.dense) {
    result.add_dense(costs.dense, "the block would fill a fifth of the space");
    return result.take();
  }
  const bool can_filter = !mass && options.filtered_start && traits.norm_inf > 0.0;
  const int columns = to_be_told(traits.wanted_end, options);
  if (options.which == Which::largest) {
    add_for_far_end(traits, mass, can_filter, columns, result);
  } else {
    add_for_near_end(traits, mass, can_filter, columns, result);
  }
  add_dense(traits, mass, costs, options, result);
  return result.take();
}

}  // namespace block_eigs
