#include "apps/journey/stages.hpp"

#include "apps/input/graph_order.hpp"
#include "apps/input/near_null_space.hpp"
#include "apps/report/console.hpp"
#include "apps/report/table.hpp"

namespace block_eigs {

namespace {

/// Of a rank. Reading more takes so much longer than a device that little is gained, and it is better known first
/// whether there is memory for a solve.
constexpr GlobalIndex most_rows_ahead = 30'000'000;

}  // namespace

RunConfig read_early(const Communicator& comm, const RunConfig& config, const PreconditionerConfig& preconditioner,
                     const DeviceStart& device, Sources& sources) {
  RunConfig ordered = order_by_graph(comm, config, preconditioner, sources);
  if (comm.any(device.takes_time()) && sources.a->rows() <= most_rows_ahead * comm.size())
    read_ahead(comm, sources, unknowns_per_node(comm, preconditioner, config.matrix, sources.a->rows()));
  return ordered;
}

template <class T>
Context<T> make_context(const Communicator& comm, DeviceStart& device, const RunConfig& config, bool profiled,
                        const Stopwatch& all) {
  const double reading = all.seconds();
  Context<T> context = make_context<T>(comm, device, config.halo);
  if (profiled) context.profile->start(reading);
  return context;
}

template <class T>
Problem<T> read_problem(const Context<T>& context, const Sources& sources, const RunConfig& config,
                        const PreconditionerConfig& preconditioner, bool in_float, int hold) {
  ReadOptions options = read_options(context, config, preconditioner, in_float, sources.a->rows());
  options.hold = hold;
  return read_problem(context, sources, options);
}

template <class T>
Problem<double> read_exactly(Problem<T>& problem, const Sources& sources, const RunConfig& config) {
  problem.a.reset();
  problem.b.reset();
  return read_problem(with_precision<double>(problem.context), sources, config.spmm, problem.partition,
                      problem.scaling);
}

void describe_usage(const Communicator& comm, Profile& profile, const Stopwatch& all, const MemoryWatch& watch,
                    RunRecord& run) {
  run.times = times_record(comm, profile, all.seconds());
  run.memory = watch.record(comm);
}

namespace {

/// In the file's order.
template <class T>
void write_vectors(const Problem<T>& problem, const std::string& name, const DenseBlock<T>& vectors,
                   ResultFile& file) {
  if (!problem.order) {
    file.write(name, problem.partition, vectors);
    return;
  }
  std::vector<T> values;
  problem.context.comm.collectively([&] { values = vectors.to_host(); });
  values = problem.order->in_file_order(values, static_cast<std::size_t>(vectors.cols()));
  file.write(name, problem.order->file(), vectors.cols(), values);
}

}  // namespace

template <class T, class Findings>
void write_result(const Problem<T>& problem, const RunConfig& config, const RunRecord& run,
                  const Findings& findings, const HistoryRecord& history, const std::string& name,
                  const DenseBlock<T>* vectors) {
  if (!config.output) return;
  const Profile::Scope scope(*problem.context.profile, Phase::io);
  ResultFile file(problem.context.comm, config.output->file);
  file.describe(run);
  file.write(findings);
  file.write(history);
  if (vectors != nullptr) write_vectors(problem, name, *vectors, file);
  file.commit();
}

ExitCode end_run(const Communicator& comm, const RunConfig& config, Profile& profile, const Stopwatch& all,
                 const MemoryWatch& watch, const RunRecord& run, const std::string& what,
                 const std::vector<Outcome>& outcomes) {
  print_times(comm, times_record(comm, profile, all.seconds()));
  print_memory(comm, watch.record(comm));
  return conclude(comm, config, run, what, outcomes);
}

template Context<float> make_context(const Communicator&, DeviceStart&, const RunConfig&, bool, const Stopwatch&);
template Context<double> make_context(const Communicator&, DeviceStart&, const RunConfig&, bool, const Stopwatch&);
template Problem<float> read_problem(const Context<float>&, const Sources&, const RunConfig&,
                                     const PreconditionerConfig&, bool, int);
template Problem<double> read_exactly(Problem<float>&, const Sources&, const RunConfig&);
template Problem<double> read_exactly(Problem<double>&, const Sources&, const RunConfig&);
template Problem<double> read_problem(const Context<double>&, const Sources&, const RunConfig&,
                                      const PreconditionerConfig&, bool, int);
template void write_result(const Problem<float>&, const RunConfig&, const RunRecord&, const PairsRecord&,
                           const HistoryRecord&, const std::string&, const DenseBlock<float>*);
template void write_result(const Problem<double>&, const RunConfig&, const RunRecord&, const PairsRecord&,
                           const HistoryRecord&, const std::string&, const DenseBlock<double>*);
template void write_result(const Problem<float>&, const RunConfig&, const RunRecord&, const SolutionsRecord&,
                           const HistoryRecord&, const std::string&, const DenseBlock<float>*);
template void write_result(const Problem<double>&, const RunConfig&, const RunRecord&, const SolutionsRecord&,
                           const HistoryRecord&, const std::string&, const DenseBlock<double>*);

}  // namespace block_eigs
