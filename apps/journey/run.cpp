// The journey of block-eigs.
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "apps/checkpoint/run_checkpoint.hpp"
#include "apps/input/block_input.hpp"
#include "apps/input/graph_order.hpp"
#include "apps/input/preconditioner.hpp"
#include "apps/journey/cores.hpp"
#include "apps/journey/early_end.hpp"
#include "apps/journey/eigensolve.hpp"
#include "apps/journey/inner_precision.hpp"
#include "apps/journey/memory_limits.hpp"
#include "apps/journey/programs.hpp"
#include "apps/journey/proof.hpp"
#include "apps/journey/proof_inertia.hpp"
#include "apps/journey/scaled_units.hpp"
#include "apps/journey/stages.hpp"
#include "apps/journey/verify.hpp"
#include "apps/report/advice_eigen.hpp"
#include "apps/report/choice_log.hpp"
#include "apps/report/console.hpp"
#include "apps/report/record.hpp"
#include "apps/report/summary.hpp"
#include "apps/report/table.hpp"
#include "io/files/output_path.hpp"
#include "solver/space/block_space.hpp"

namespace block_eigs {

namespace {

void check_sizes(const RunConfig& config, const Sources& sources) {
  const int pairs = config.eigensolver.options.pairs;
  require(pairs <= sources.a->rows(),
          fmt::format("eigensolver.pairs: {} are asked for, but the matrix ({}) has {} rows", pairs,
                      sources.a->description(), sources.a->rows()));
}

/// Pairs that a window of columns did not get to are not even there.
std::vector<Outcome> outcomes_of_all(const Verification& verified, int pairs) {
  std::vector<Outcome> outcomes = verified.outcomes;
  outcomes.resize(static_cast<std::size_t>(pairs), Outcome::not_converged);
  return outcomes;
}

/// Empty where no vectors are written.
std::string vectors_file(const RunConfig& config) {
  return config.output && config.output->eigenvectors ? config.output->file : "";
}

/// Why some of `pairs` are not done and what to try next; nothing to try where a checkpoint says how to go on.
std::string with_advice(const std::string& remark, const Verification& verified, Limitation limitation,
                        const std::vector<LobpcgIteration>& history, const RunConfig& config,
                        const LobpcgOptions& options, const Arguments& arguments, const EarlyEnd& early,
                        const RunCheckpoint* checkpoint) {
  const std::vector<Outcome> outcomes = outcomes_of_all(verified, options.pairs);
  if (std::count(outcomes.begin(), outcomes.end(), Outcome::not_converged) == 0) return remark;
  const bool ended = early.ended() && limitation == Limitation::stopped;
  if (ended && checkpoint != nullptr && checkpoint->has_written()) return remark;
  const Advice next = ended ? go_on_from_result(vectors_file(config), "eigensolver.initial", "/eigenvectors")
                            : advise(unfinished_eigensolve(verified, limitation, history, options), config);
  const std::string advice = advice_text(next, arguments.program, arguments.config, arguments.overrides);
  if (remark.empty() || advice.empty()) return remark + advice;
  return remark + "; " + advice;
}

/// A certificate that was asked for and could not be had is a failure, though the result is there.
ExitCode with_proof(const Communicator& comm, const std::string& program, const Proof& proof, ExitCode code) {
  if (!proof.failed || code != ExitCode::success) return code;
  if (comm.is_root()) fmt::print(stderr, "{}: no certificate: {}\n", program, proof.statement);
  return ExitCode::run_failed;
}

template <class T>
void announce_task(const Problem<T>& problem, const Sources& sources, const RunConfig& config,
                   const Arguments& arguments, bool in_float) {
  const Context<T>& context = problem.context;
  announce(problem, sources, config, arguments.program,
           task(config.eigensolver) + (in_float ? ", begun in float" : ""));
  announce(context.comm, context.device->host_addressable() ? idle_cores(context.comm) : "");
  announce(context.comm, halo_remark(*context.transport));
  announce(context.comm, partition_remark(problem));
}

template <class T>
void announce_solver(const Problem<T>& problem, const EigenSolver<T>& solver) {
  const Communicator& comm = problem.context.comm;
  announce(comm, description(problem.held));
  announce(comm, description(solver.lone));
  if (solver.choice) announce(comm, "preconditioner: " + solver.choice->description());
  announce(comm, solver.operators->preconditioner.made);
  announce(comm, float_remark(solver.config.eigensolver));
}

/// What the solve needs, after work space was fitted to what memory there is. Collective.
template <class T>
MemoryNeeds fitted_needs(const Problem<T>& problem, EigenSolver<T>& solver, const StartVectors<T>& start,
                         int known) {
  const EigensolverConfig& config = solver.config.eigensolver;
  announce(problem.context.comm, fit_work_space(problem, *solver.operators, config, start, known));
  return memory_needs(problem, *solver.operators, config, start, known);
}

/// With what the search for missed pairs came to need.
MemoryNeeds with_search(MemoryNeeds needs, const Proof& proof) {
  needs.certificate = proof.memory;
  if (proof.looked_in_other_pencil) needs.vectors = std::max(needs.vectors, needs.with_other_pencil);
  return needs;
}

void print_found(const Communicator& comm, const RunConfig& config, const Verification& verified,
                 const Proof& proof) {
  print_pairs(comm, verified, known_eigenvalues(config));
  print_proof(comm, verified, proof);
}

template <class T>
Problem<T> read_matrices(const Context<T>& context, const Sources& sources, const RunConfig& config,
                         bool in_float) {
  const EigensolverConfig& solver = config.eigensolver;
  return read_problem(context, sources, config, solver.preconditioner, in_float, pairs_to_hold_for(solver));
}

/// What the state of a former run has to be that of.
template <class T>
void bind(RunCheckpoint* checkpoint, const Problem<T>& problem, const DenseBlock<T>& constraints) {
  if (checkpoint == nullptr) return;
  checkpoint->bind(problem);
  checkpoint->identify("constraints", constraints);
}

template <class T>
ExitCode run(const Communicator& comm, const Arguments& arguments, const RunConfig& asked) {
  const Stopwatch all;
  EarlyEnd early(comm, asked.max_seconds);
  DeviceStart device(comm, asked.device);
  Sources sources = open_sources(comm, asked);
  check_sizes(asked, sources);
  const Announce tell = [&](const std::string& text) { announce(comm, text); };
  const std::unique_ptr<RunCheckpoint> checkpoint = open_checkpoint(comm, asked, arguments.program, tell, sources);
  require_proof(comm, asked.eigensolver);
  const RunConfig config = read_early(comm, asked, asked.eigensolver.preconditioner, device, sources);
  const Context<T> context = make_context<T>(comm, device, asked, asked.profile || arguments.check, all);
  early.check();
  require_memory(context, config.eigensolver, sources.a->rows());
  const LobpcgOptions& options = config.eigensolver.options;
  const bool in_float = begins_in_float<T>(config.eigensolver, config.mass.has_value());
  Problem<T> problem = read_matrices(context, sources, config, in_float);
  early.check();
  BlockSpace<T> space(context, problem.partition);
  StartVectors<T> start = read_start_vectors(space, config.eigensolver);
  announce_task(problem, sources, config, arguments, in_float);
  bind(checkpoint.get(), problem, start.constraints);
  start.resumes = checkpoint && checkpoint->saved() != nullptr;

  const Stopwatch setup;
  EigenSolver<T> solver = make_solver(space, problem, config, start.constraints, checkpoint.get());
  announce_solver(problem, solver);
  const auto known = static_cast<int>(solver.lone.values.size());
  MemoryNeeds needs = fitted_needs(problem, solver, start, known);
  // A solve asks when it comes to that: the analysis of a factorisation takes time.
  if (arguments.check && config.eigensolver.verify == Verify::inertia)
    needs.certificate = inertia_bytes(problem, sources, options.which);
  const MemoryInUse before = memory_in_use(*context.device);
  const MemoryEstimate memory = estimate_memory(needs, before, context.device->host_addressable());
  require_memory(problem, *solver.operators, solver.config.eigensolver, start, known);
  if (arguments.check) return print_check(comm, config, memory, *context.profile, all.seconds());

  early.solving(context.stop);
  MemoryWatch watch(context.device, memory);
  solver.changed = [&] {
    watch.foresee(estimate_memory(
        memory_needs(problem, *solver.operators, solver.config.eigensolver, start, known), *context.device));
  };
  const double setup_seconds = setup.seconds();
  const std::string made = solver.operators->preconditioner.made;
  Proof proof;
  ChoiceLog choices(solver.choice ? solver.choice->description() : description(config.eigensolver.preconditioner));
  EigenResult<T> result =
      observed(comm, "pairs", options.tolerance, arguments.silent(), watch, [&](const Observer& line) {
        const Observer observer = choices.counting(line);
        const Announce note = choices.noting(tell);
        EigenResult<T> found = eigensolve(space, problem, solver, start, observer, note, {}, checkpoint.get());
        proof =
            prove_result(space, problem, sources, solver, start.constraints, observer, found, granted_to_programs);
        return found;
      });
  solver.operators.reset();
  watch.foresee(estimate_memory(with_search(needs, proof), before, context.device->host_addressable()));
  const Spent spent{setup_seconds + result.setup_seconds, result.solve_seconds, result.iterations,
                    remark_of_all(early.with_cause(result.remark), proof)};
  RunRecord record = run_record(problem, sources, config, arguments.program, spent);

  Verification verified = verify_result(space, problem, sources, config, result);
  give_up_missing(verified, proof);
  undo_scaling(problem.scaling, space, verified, result);
  solver.config.eigensolver.options.pairs = options.pairs;
  record.remark = with_advice(record.remark, verified, result.limitation, result.history, config,
                              solver.config.eigensolver.options, arguments, early, checkpoint.get());
  print_found(comm, config, verified, proof);
  describe_course(record, solver.choice.has_value(), made, choices.records());
  describe_usage(comm, *context.profile, all, watch, record);
  const PairsRecord pairs = pairs_record(verified, proof);
  write_result(problem, config, record, pairs, history_record(result.history, options.pairs), "/eigenvectors",
               vectors_file(config).empty() ? nullptr : &result.eigenvectors);
  const ExitCode code = with_proof(comm, arguments.program, proof,
                                   end_run(comm, config, *context.profile, all, watch, record, "pairs",
                                           outcomes_of_all(verified, options.pairs)));
  if (checkpoint && code == ExitCode::not_converged) tell(checkpoint->how_to_go_on());
  if (arguments.summarise)
    arguments.summarise(summary(record, pairs, config.output ? config.output->file : "", code));
  return code;
}

}  // namespace

ExitCode run_eigensolver(const Communicator& comm, const Arguments& arguments) {
  const RunConfig config = read_config(comm, arguments.config, arguments.overrides);
  if (config.output) {
    require_writable(comm, config.output->file);
    require_not_among(comm, config.output->file, {config.matrix.file, config.mass ? config.mass->file : ""});
  }
  return config.precision == Precision::float32 ? run<float>(comm, arguments, config)
                                                : run<double>(comm, arguments, config);
}

}  // namespace block_eigs
