#include "tests/battery/solve_try.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "apps/input/stopwatch.hpp"
#include "apps/journey/eigensolve.hpp"
#include "apps/journey/scaled_units.hpp"
#include "apps/journey/stages.hpp"
#include "apps/journey/verify.hpp"
#include "tests/battery/reference.hpp"

namespace block_eigs::test {

namespace {

/// The stages of apps/journey/run.cpp without what it prints and writes.
template <class T>
Answer solve(const Communicator& comm, const Try& one, const RunConfig& config) {
  const PreconditionerConfig& preconditioner = config.eigensolver.preconditioner;
  const bool in_float = begins_in_float<T>(config.eigensolver, config.mass.has_value());
  const Context<T> context = make_context<T>(comm, config.device, config.halo);
  Sources sources;
  sources.a = std::make_unique<MemorySource>(one.a, comm.rank());
  if (one.b) sources.b = std::make_unique<MemorySource>(*one.b, comm.rank());
  const Stopwatch all;
  Problem<T> problem = read_problem(context, sources, config, preconditioner, in_float);
  BlockSpace<T> space(context, problem.partition);
  StartVectors<T> start;
  if (one.constraints > 0) {
    start.constraints = own_rows(space, leading_eigenvectors(one, one.constraints), one.constraints);
  }
  EigenSolver<T> solver = make_solver(space, problem, config, start.constraints);
  EigenResult<T> result = eigensolve(space, problem, solver, start, Observer{});
  const Proof proof =
      prove_result(space, problem, sources, solver, start.constraints, Observer{}, result, granted_to_programs);
  solver.operators.reset();
  Verification verified = verify_result(space, problem, sources, config, result);
  give_up_missing(verified, proof);
  undo_scaling(problem.scaling, space, verified, result);
  Answer answer{verified.eigenvalues,
                all_rows(space, result.eigenvectors),
                verified.residual_norms,
                verified.outcomes,
                result.iterations,
                all.seconds(),
                result.remark};
  answer.outcomes.resize(static_cast<std::size_t>(config.eigensolver.options.pairs), Outcome::not_converged);
  return answer;
}

}  // namespace

RunConfig config_of(const Try& one, std::span<const std::string> overrides) {
  return parse_config(one.yaml, "the battery", overrides);
}

Answer solve_try(const Communicator& comm, const Try& one, const RunConfig& config) {
  return config.precision == Precision::float32 ? solve<float>(comm, one, config)
                                                : solve<double>(comm, one, config);
}

}  // namespace block_eigs::test
