#include "apps/journey/proof_choice.hpp"

#include <algorithm>
#include <optional>

#include "apps/choice/cost_model.hpp"
#include "apps/choice/matrix_traits.hpp"
#include "apps/choice/separator_guess.hpp"
#include "apps/input/direct.hpp"
#include "apps/journey/inertia_count.hpp"
#include "apps/journey/proof_pencils.hpp"
#include "apps/journey/proof_probe.hpp"
#include "solver/factors/factorization.hpp"

namespace block_eigs {

namespace {

/// Of the solve, that a certificate may cost by the model; where a probe could promise nothing, all of it.
constexpr double certificate_share = 0.25;

template <class T>
CostModel costs_of(const SolveSetting<T>& setting) {
  const Problem<T>& problem = setting.problem;
  const MatrixTraits traits{.rows = static_cast<double>(problem.partition.rows()),
                            .nonzeros = static_cast<double>(problem.a->global_nonzeros())};
  const double mass_nonzeros = problem.b ? static_cast<double>(problem.b->global_nonzeros()) : 0.0;
  return cost_model(traits, mass_nonzeros, block_width(setting.config.options), sizeof(T),
                    problem.context.device->backend(), problem.context.comm.size());
}

/// By the preconditioner that came last, and in the precision of the result.
template <class T>
double spent(const SolveSetting<T>& setting, const EigenResult<T>& result, const CostModel& costs) {
  if (result.history.empty()) return costs.dense;
  const PreconditionerConfig& preconditioner = setting.config.preconditioner;
  const bool direct = preconditioner.type == PreconditionerType::direct;
  const factors::FactorSize size =
      direct && setting.problem.factorization ? setting.problem.factorization->size() : factors::FactorSize{};
  double sum = direct ? costs.analysis() + costs.factorisation(size) : costs.setup(preconditioner.type);
  for (const LobpcgIteration& entry : result.history) {
    const int columns = std::max(entry.active_columns, 1);
    const CostModel at_work = costs.with_columns(columns);
    if (entry.products > entry.active_columns) {
      sum += at_work.degree() * entry.products / columns;
    } else {
      sum += at_work.iteration() +
             (direct ? at_work.substitution(size, columns) : at_work.preconditioner(preconditioner));
    }
  }
  return sum;
}

/// Of a count, and of one for a B that Gershgorin's circles do not tell to be definite.
template <class T>
double price(const Problem<T>& problem, const CostModel& costs, const factors::FactorSize& size) {
  const bool counts_mass = problem.b && !plainly_definite_mass(problem);
  const double count = costs.factors(size);
  return (problem.factorization ? 0.0 : costs.analysis()) + count + (counts_mass ? costs.analysis() + count : 0.0);
}

/// Whether factors take little memory, or about what the solve has taken.
template <class T>
bool as_small_as_solve(const SolveSetting<T>& setting, const factors::FactorSize& size) {
  constexpr double little = 2.56e8;
  constexpr double blocks = 10.0;
  const Communicator& comm = setting.problem.context.comm;
  const LocalIndex rows = setting.problem.partition.size(comm.rank());
  const auto block = static_cast<double>(DenseBlock<T>::bytes(rows, block_width(setting.config.options)));
  return !comm.any(size.bytes > std::max(little, blocks * block));
}

}  // namespace

template <class T>
Verify chosen_proof(const SolveSetting<T>& setting, const EigenResult<T>& result) {
  Problem<T>& problem = setting.problem;
  if (!factors::available() || setting.constraints.cols() > 0 || !holds_entries(problem)) return Verify::probe;
  const CostModel costs = costs_of(setting);
  // Several ranks exchange more messages for small factors than these are worth, and wait for each other.
  const double granted = problem.context.comm.size() == 1 ? setting.granted : 0.0;
  const double limit = costs.host * granted +
                       (promises_something(setting) ? certificate_share : 1.0) * spent(setting, result, costs) +
                       iterations_for_soft_masses(setting, result) * costs.iteration();
  if (price(problem, costs, {}) > limit) return Verify::probe;
  // Orderings of graphs with hubs take seconds to minutes.
  const bool analysed = problem.factorization != nullptr;
  if (!analysed && examine(problem.context.comm, problem.a_rows, problem.partition).has_hubs())
    return Verify::probe;
  // So do those of random ones.
  if (!analysed && problem.context.comm.size() == 1 &&
      price(problem, costs, least_factors(problem.a_rows)) > limit)
    return Verify::probe;
  const std::optional<factors::FactorSize> size = foreseen_factors(problem, 0);
  if (!size) return Verify::probe;
  const double analysis = analysed ? 0.0 : costs.analysis();
  if (analysis + price(problem, costs, *size) > limit || !as_small_as_solve(setting, *size)) return Verify::probe;
  return Verify::inertia;
}

template <class T>
bool grants_probe(const SolveSetting<T>& setting, const ProbeKind& kind) {
  if (setting.granted == 0.0) return false;
  constexpr int start_and_end = 2;
  const CostModel costs = costs_of(setting).with_columns(kind.columns);
  const PreconditionerConfig& preconditioner = setting.config.preconditioner;
  const double products = first_degree(kind) + start_and_end;
  double step = costs.degree();
  if (preconditioner.type == PreconditionerType::direct && setting.problem.factorization) {
    step += costs.substitution(setting.problem.factorization->size(), kind.columns);
  } else if (kind.preconditioned) {
    step += costs.preconditioner(preconditioner);
  }
  return products * step <= costs.host * setting.granted;
}

template Verify chosen_proof(const SolveSetting<float>&, const EigenResult<float>&);
template Verify chosen_proof(const SolveSetting<double>&, const EigenResult<double>&);
template bool grants_probe(const SolveSetting<float>&, const ProbeKind&);
template bool grants_probe(const SolveSetting<double>&, const ProbeKind&);

}  // namespace block_eigs
