#include "apps/report/console.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include <fmt/format.h>

#include "apps/input/preconditioner.hpp"
#include "apps/report/table.hpp"
#include "apps/report/text.hpp"

namespace block_eigs {

namespace {

std::string criterion(const LobpcgOptions& options) {
  switch (options.convergence) {
    case Convergence::relative:
      return fmt::format("residual at most {:g} |lambda|", options.tolerance);
    case Convergence::norm:
      return fmt::format("residual at most {:g} (||A|| + |lambda| ||B||)", options.tolerance);
    case Convergence::absolute:
      return fmt::format("residual at most {:g}", options.tolerance);
  }
  return "";
}

template <class T>
std::string matrix_line(const char* name, const MatrixSource& source, const DistributedMatrix<T>& matrix,
                        std::int64_t left_out) {
  return fmt::format("{}: {}; {} rows, {} nonzeros\n", name, source.description(), count_text(source.rows()),
                     count_text(matrix.global_nonzeros() + left_out));
}

}  // namespace

std::string task(const EigensolverConfig& config) {
  const LobpcgOptions& options = config.options;
  return fmt::format("{} {} {}, {}, preconditioner {}, {} columns", options.pairs,
                     options.which == Which::smallest ? "smallest" : "largest",
                     options.pairs == 1 ? "pair" : "pairs", criterion(options), description(config.preconditioner),
                     options.block_size);
}

std::string task(const LinearSolverConfig& config, const RightHandSides& sides) {
  return fmt::format("{} right-hand {} ({}), residual at most {:g} ||f||, preconditioner {}, {} at once{}",
                     sides.count(), sides.count() == 1 ? "side" : "sides", sides.description(), config.tolerance,
                     description(config.preconditioner), std::min<GlobalIndex>(config.block_size, sides.count()),
                     config.inner_precision == Precision::float32 ? ", iterations in float" : "");
}

template <class T>
void announce(const Problem<T>& problem, const Sources& sources, const RunConfig& config,
              const std::string& program, const std::string& task) {
  const Communicator& comm = problem.context.comm;
  if (!comm.is_root()) return;
  const Device& device = *problem.context.device;
  const bool fell_back = config.device == Backend::automatic && device.backend() == Backend::host;
  std::string text =
      fmt::format("{} {}: {} {}, {}{}, {}\n", program, version(), comm.size(), comm.size() == 1 ? "rank" : "ranks",
                  device.name(), fell_back ? " (no GPU was found)" : "",
                  config.precision == Precision::float32 ? "float" : "double");
  text += matrix_line("A", *sources.a, *problem.a, problem.couplings_of_a);
  if (problem.b) text += matrix_line("B", *sources.b, *problem.b, problem.couplings_of_b);
  fmt::print("{}{}\n", text, task);
  std::fflush(stdout);
}

void announce(const Communicator& comm, const std::string& made) {
  if (!comm.is_root() || made.empty()) return;
  fmt::print("{}\n", made);
  std::fflush(stdout);
}

std::string halo_remark(const Transport& transport) {
  const std::string way = transport.description();
  return way.empty() ? "" : "halo: " + way;
}

template <class T>
std::string partition_remark(const Problem<T>& problem) {
  const Communicator& comm = problem.context.comm;
  if (comm.size() == 1) return {};
  const auto share = [&](const char* what, double own) {
    const double mean = comm.sum(own) / comm.size();
    return fmt::format("{} {} ({:.4g})", what, count_text(static_cast<std::int64_t>(comm.max(own))), mean);
  };
  const DistributedMatrix<T>& a = *problem.a;
  const std::string rows = share("rows", a.rows());
  const std::string nonzeros = share("nonzeros", static_cast<double>(a.nonzeros()));
  const std::string ghosts = share("ghosts", a.ghosts());
  const char* way = "nonzeros";
  if (problem.order)
    way =
        problem.order->is_of_file() ? "graph, the order of the file: no cut with fewer ghosts was found" : "graph";
  return fmt::format("partition: {}; on {} ranks, largest (mean): {}, {}, {}, {}", way, comm.size(), rows,
                     nonzeros, ghosts, share("neighbours", a.neighbours()));
}

ExitCode print_check(const Communicator& comm, const RunConfig& config, const MemoryEstimate& memory,
                     Profile& profile, double wall_seconds) {
  const double host = comm.max(memory.host);
  const double device = comm.max(memory.device);
  const double vectors = comm.max(memory.needs.vectors);
  const double matrix = comm.max(memory.needs.matrix);
  const double halo = comm.max(memory.needs.halo);
  const double certificate = comm.max(memory.needs.certificate);
  if (comm.is_root()) fmt::print("\n{}", resolved_config(config));
  print_times(comm, times_record(comm, profile, wall_seconds));
  if (!comm.is_root()) return ExitCode::success;
  fmt::print("\n");
  fmt::print("memory that a rank will need: {}{}\n", bytes_text(host),
             device > 0.0 ? fmt::format(" on the host, {} on its GPU", bytes_text(device)) : "");
  fmt::print("  (vectors {}, matrices {}, halo {}{})\n", bytes_text(vectors), bytes_text(matrix), bytes_text(halo),
             certificate > 0.0 ? fmt::format("; factors of verify: inertia {}", bytes_text(certificate)) : "");
  fmt::print("everything is in order; nothing was solved\n");
  return ExitCode::success;
}

ExitCode conclude(const Communicator& comm, const RunConfig& config, const RunRecord& run, const std::string& what,
                  const std::vector<Outcome>& outcomes) {
  std::vector<bool> open;
  for (const Outcome outcome : outcomes) open.push_back(outcome == Outcome::not_converged);
  const auto count = std::count(open.begin(), open.end(), true);
  if (comm.is_root()) {
    const bool limited = std::count(outcomes.begin(), outcomes.end(), Outcome::at_accuracy_limit) > 0;
    fmt::print("{} iterations; set-up {}, solve {}\n", run.iterations, duration_text(run.setup_seconds),
               duration_text(run.solve_seconds));
    if (limited) {
      const bool pairs = what == "pairs";
      fmt::print("at accuracy limit: residuals within rounding errors{}, though not within the tolerance{}\n",
                 pairs ? " of the norm of the matrix" : "", pairs ? "; error bounds say how good values are" : "");
    }
    if (config.output) fmt::print("result: {}\n", config.output->file);
    std::fflush(stdout);
    if (count > 0) {
      fmt::print(stderr, "{}: {} of {} {} not converged ({}): {}\n", run.program, count, open.size(), what,
                 ranges_text(open), run.remark.empty() ? "true residuals are above the tolerance" : run.remark);
    }
  }
  return count > 0 ? ExitCode::not_converged : ExitCode::success;
}

template std::string partition_remark(const Problem<float>&);
template std::string partition_remark(const Problem<double>&);
template void announce(const Problem<float>&, const Sources&, const RunConfig&, const std::string&,
                       const std::string&);
template void announce(const Problem<double>&, const Sources&, const RunConfig&, const std::string&,
                       const std::string&);

}  // namespace block_eigs
