#include "apps/bench/scaling_solvers.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "apps/bench/contenders.hpp"
#include "apps/bench/counted_transport.hpp"
#include "io/generate/generate.hpp"
#include "solver/block_cg/block_cg.hpp"
#include "solver/lobpcg/lobpcg_mixed.hpp"
#include "spmm/error.hpp"

namespace block_eigs::bench {

namespace {

using Clock = std::chrono::steady_clock;

/// So small that nothing but the number of iterations ends a run.
constexpr double never = 1e-15;

/// The config of a solver by its name.
RunConfig config_of(const std::string& solver, const ScalingOptions& options) {
  const std::string matrix = "matrix: {generate: laplacian3d, size: [8, 8, 8]}\n";
  if (solver == "cg") {
    return parse_config(
        matrix + fmt::format("linear_solver: {{tolerance: {:e}, max_iterations: {}, block_size: {}, "
                             "preconditioner: {{type: jacobi}}}}\n",
                             never, options.iterations, options.columns),
        "bench_scaling", {});
  }
  const auto preconditioner = [&]() -> std::string {
    if (solver == "lobpcg") return "{type: none}";
    if (solver == "chebyshev") return "{type: chebyshev, degree: 12}";
    if (solver == "filter") return "{type: jacobi}";
    if (solver == "amg") return "{type: amg}";
    throw InputError("--solvers: '" + solver + "' is none of lobpcg, chebyshev, filter, amg, cg");
  };
  return parse_config(
      matrix + fmt::format("eigensolver: {{pairs: {0}, block_size: {0}, tolerance: {1:e}, "
                           "max_iterations: {2}, filtered_start: {3}, preconditioner: {4}}}\n",
                           options.columns, never, options.iterations, solver == "filter", preconditioner()),
      "bench_scaling", {});
}

/// One run of a solver; returns its iterations, with a filter its products of A with the whole block: how long the
/// filter is depends on the matrix.
using Solve = std::function<int()>;

/// Of `prepared`, which stays with the caller.
Solve solve_of(Prepared& prepared, const RunConfig& config, bool linear, const DenseBlock<double>& f) {
  LinearOperator<double>* preconditioner = prepared.operators.preconditioner.operation.get();
  if (linear) {
    const LinearSolverConfig& solver = config.linear_solver;
    const BlockCgOptions options{solver.tolerance, solver.max_iterations, solver.block_size};
    return [&prepared, preconditioner, &f, options] {
      return block_cg<double>(prepared.space, *prepared.problem.a, preconditioner, f, {}, options)
          .total_iterations;
    };
  }
  return [&prepared, preconditioner, options = config.eigensolver.options] {
    const EigenResult<double> result =
        lobpcg_mixed(prepared.space, *prepared.problem.a, preconditioner, prepared.operators.in_float, nullptr,
                     DenseBlock<double>{}, options);
    if (!options.filtered_start) return result.iterations;
    int columns = 0;
    for (const LobpcgIteration& iteration : result.history) columns += iteration.products;
    return columns / options.block_size;
  };
}

/// Seconds of an iteration, the median of the repeats, after a run that does not count.
double seconds_of(const Context<double>& context, const Solve& solve, int repeats) {
  std::vector<double> seconds;
  for (int repeat = 0; repeat <= repeats; ++repeat) {
    context.device->synchronize(Queue::compute);
    context.comm.barrier();
    const auto began = Clock::now();
    const int iterations = solve();
    context.device->synchronize(Queue::compute);
    const double all = context.comm.max(std::chrono::duration<double>(Clock::now() - began).count());
    if (repeat > 0) seconds.push_back(all / std::max(1, iterations));
  }
  return median(std::move(seconds));
}

/// What an iteration asks of the others, by a run of its own: clocks of phases cost a little.
void count(const Context<double>& context, const CountedTransport& transport, const Solve& solve,
           ScalingFigures& figures) {
  const Communicator& comm = context.comm;
  comm.barrier();
  context.profile->start();
  const HaloCount before = transport.count();
  const std::int64_t calls = comm.collectives();
  const double iterations = std::max(1, solve());
  const HaloCount& after = transport.count();
  figures.reductions = static_cast<double>(comm.collectives() - calls) / iterations;
  const auto most = [&](double own) { return comm.max(own) / iterations; };
  figures.halos = most(static_cast<double>(after.rounds - before.rounds));
  figures.messages = most(static_cast<double>(after.messages - before.messages));
  figures.halo_bytes = most(static_cast<double>(after.bytes - before.bytes));
  figures.halo_wait = most(context.profile->seconds(Phase::halo_wait));
  figures.reduction_seconds = most(context.profile->seconds(Phase::communication));
}

/// A solver on the ranks of `comm`, on a box of layers x grid x grid points.
ScalingFigures measure(const Communicator& comm, const ScalingOptions& options, const std::string& solver,
                       GlobalIndex layers) {
  Context<double> context =
      make_context<double>(comm, backend_from_name(options.device), halo_way_from_name(options.halo));
  const auto transport = std::make_shared<CountedTransport>(context.transport);
  context.transport = transport;
  const auto source = laplacian3d(comm, {.size = {options.grid, options.grid, layers}, .points = options.points});
  const Partition partition = Partition::uniform(source->rows(), comm.size());
  const RunConfig config = config_of(solver, options);
  const bool linear = solver == "cg";
  const PreconditionerConfig& preconditioner =
      linear ? config.linear_solver.preconditioner : config.eigensolver.preconditioner;
  Prepared prepared = prepare({context, partition, source->read(partition)}, config, preconditioner, false);
  DenseBlock<double> f = prepared.space.make_block(options.columns);
  prepared.space.fill_random(f.view(), 1);
  const Solve solve = solve_of(prepared, config, linear, f);
  ScalingFigures figures;
  figures.solver = solver;
  figures.ranks = comm.size();
  figures.rows = partition.rows();
  figures.seconds = seconds_of(context, solve, options.repeats);
  count(context, *transport, solve, figures);
  return figures;
}

/// On rank 0 alone; the others wait and get the seconds.
ScalingFigures measure_alone(const Communicator& comm, const ScalingOptions& options, const std::string& solver,
                             GlobalIndex layers) {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(comm.handle(), comm.is_root() ? 0 : 1, comm.rank(), &half);
  ScalingFigures figures;
  figures.solver = solver;
  comm.collectively([&] {
    const Communicator alone(half);
    if (comm.is_root()) figures = measure(alone, options, solver, layers);
  });
  MPI_Comm_free(&half);
  std::vector<double> seconds{figures.seconds};
  comm.broadcast(std::span<double>(seconds));
  figures.seconds = seconds[0];
  return figures;
}

}  // namespace

std::vector<ScalingFigures> measure_solvers(const Communicator& comm, const ScalingOptions& options) {
  std::vector<ScalingFigures> all;
  for (const std::string& solver : options.solvers) {
    all.push_back(measure_alone(comm, options, solver, options.grid));
    const double base = all.back().seconds;
    all.back().kind = "base";
    if (comm.size() == 1) continue;
    const auto add = [&](const char* kind, auto&& figures, double one) {
      if (std::find(options.kinds.begin(), options.kinds.end(), kind) == options.kinds.end()) return;
      all.push_back(figures());
      all.back().kind = kind;
      all.back().efficiency = one / all.back().seconds;
    };
    const GlobalIndex share = std::max<GlobalIndex>(options.grid / comm.size(), 1);
    add(
        "share", [&] { return measure_alone(comm, options, solver, share); }, base / comm.size());
    add(
        "strong", [&] { return measure(comm, options, solver, options.grid); }, base / comm.size());
    add(
        "weak", [&] { return measure(comm, options, solver, options.grid * comm.size()); }, base);
  }
  return all;
}

double sum_seconds(const Communicator& comm, std::size_t values) {
  constexpr int sums = 200;
  std::vector<double> parts(values, 1.0);
  std::vector<double> seconds;
  for (int repeat = 0; repeat < 6; ++repeat) {
    comm.barrier();
    const auto began = Clock::now();
    for (int i = 0; i < sums; ++i) {
      comm.sum(std::span<double>(parts));
      std::fill(parts.begin(), parts.end(), 1.0);
    }
    const double all = comm.max(std::chrono::duration<double>(Clock::now() - began).count());
    if (repeat > 0) seconds.push_back(all / sums);
  }
  return median(std::move(seconds));
}

std::string scaling_table(const std::vector<ScalingFigures>& figures) {
  std::string text = fmt::format(
      "{:>10} {:>7} {:>5} {:>10} {:>11} {:>6} {:>7} {:>10} {:>10} {:>10} {:>7} {:>10}\n", "solver", "", "ranks",
      "rows", "us an it.", "eff.", "halos", "halo KiB", "exposed us", "GB/s", "sums", "sums us");
  for (const ScalingFigures& f : figures) {
    text += fmt::format(
        "{:>10} {:>7} {:>5} {:>10} {:>11.1f} {:>6.3f} {:>7.1f} {:>10.1f} {:>10.1f} {:>10} {:>7.1f} "
        "{:>10.1f}\n",
        f.solver, f.kind, f.ranks, f.rows, 1e6 * f.seconds, f.efficiency, f.halos, f.halo_bytes / 1024.0,
        1e6 * f.halo_wait, fmt::format("{:.2f}", 1e-9 * f.halo_bytes / f.seconds), f.reductions,
        1e6 * f.reduction_seconds);
  }
  return text;
}

}  // namespace block_eigs::bench
