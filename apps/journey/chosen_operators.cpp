#include "apps/journey/chosen_operators.hpp"

#include <utility>

#include "spmm/error.hpp"

namespace block_eigs {

template <class T>
std::unique_ptr<Operators<T>> chosen_operators(Problem<T>& problem, const RunConfig& config,
                                               const PreconditionerConfig& preconditioner, bool in_float,
                                               bool again) {
  // A hierarchy uses the rows up, but for one that is made of the matrix on the device.
  const bool kept = again && preconditioner.type == PreconditionerType::amg;
  CsrRows rows;
  if (kept) rows = makes_levels_of_matrix<T>(preconditioner) ? std::move(problem.a_rows) : problem.a_rows;
  auto operators = std::make_unique<Operators<T>>(make_operators(problem, config, preconditioner, in_float));
  if (kept) problem.a_rows = std::move(rows);
  return operators;
}

template <class T>
std::unique_ptr<Operators<T>> other_operators(Problem<T>& problem, const RunConfig& config,
                                              PreconditionerConfig& preconditioner, bool in_float,
                                              const Announce& announce) {
  try {
    return chosen_operators(problem, config, preconditioner, in_float, true);
  } catch (const Error& error) {
    // That A is not what factors need is found by making them: no reason to end a run that has begun.
    const bool found_unfit = preconditioner.type == PreconditionerType::direct;
    if (dynamic_cast<const OnAllRanks*>(&error) == nullptr) throw;
    if (error.exit_code() == ExitCode::invalid_input && !found_unfit) throw;
    if (announce) announce(std::string("none instead, because that could not be made: ") + error.what());
    preconditioner.type = PreconditionerType::none;
    auto none = std::make_unique<Operators<T>>();
    if (error.exit_code() == ExitCode::invalid_input) none->unfit = error.what();
    return none;
  }
}

template std::unique_ptr<Operators<float>> chosen_operators(Problem<float>&, const RunConfig&,
                                                            const PreconditionerConfig&, bool, bool);
template std::unique_ptr<Operators<double>> chosen_operators(Problem<double>&, const RunConfig&,
                                                             const PreconditionerConfig&, bool, bool);
template std::unique_ptr<Operators<float>> other_operators(Problem<float>&, const RunConfig&,
                                                           PreconditionerConfig&, bool, const Announce&);
template std::unique_ptr<Operators<double>> other_operators(Problem<double>&, const RunConfig&,
                                                            PreconditionerConfig&, bool, const Announce&);

}  // namespace block_eigs
