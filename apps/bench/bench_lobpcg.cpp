// bench_lobpcg: our LOBPCG and SLEPc's eigensolvers on the same Laplacian, in turns, judged by the same code.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>

#include "apps/bench/eigen_contest.hpp"
#include "apps/bench/peers/slepc_eps.hpp"
#include "apps/bench/stream.hpp"
#include "io/generate/generate.hpp"
#include "io/petsc/bridge/petsc_hierarchy.hpp"
#include "solver/lobpcg/lobpcg_mixed.hpp"
#include "solver/multigrid/amg.hpp"
#include "solver/multigrid/smoothed_aggregation.hpp"
#include "solver/preconditioner/cast_operator.hpp"
#include "solver/preconditioner/chebyshev.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "spmm/error.hpp"
#include "spmm/matrix/distributed_matrix.hpp"

namespace block_eigs::bench {
namespace {

struct Settings {
  int grid = 48;
  int pairs = 16;
  int block_size = 0;
  double tolerance = 1e-6;
  int max_iterations = 2000;
  int repeats = 5;
  int degree = ChebyshevOptions{}.degree;
  std::string device = "auto";
  std::string peer_device = "host";
  std::vector<std::string> contenders{"jacobi", "jacobi-filtered", "chebyshev", "slepc-lobpcg",
                                      "slepc-krylovschur"};
  std::string csv;
};

Settings read_settings(int argc, char** argv) {
  Settings settings;
  CLI::App app("LOBPCG and its peers on the 7-point Laplacian of a cube");
  app.add_option("--grid", settings.grid, "points along an edge");
  app.add_option("--pairs", settings.pairs, "smallest eigenpairs asked for");
  app.add_option("--block-size", settings.block_size, "columns at work, 0 for the default");
  app.add_option("--tolerance", settings.tolerance, "relative residual");
  app.add_option("--max-iterations", settings.max_iterations, "for every contender");
  app.add_option("--repeats", settings.repeats, "runs that count, after one that does not");
  app.add_option("--degree", settings.degree, "of the Chebyshev preconditioner");
  app.add_option("--device", settings.device, "auto, host or cuda");
  app.add_option("--peer-device", settings.peer_device, "of SLEPc's matrix and vectors: host or cuda")
      ->check(CLI::IsMember({"host", "cuda"}));
  app.add_option("--contenders", settings.contenders,
                 "none, jacobi, jacobi-filtered, chebyshev, amg, amg-float, gamg, gamg-float (levels from PETSc), "
                 "jacobi-mixed, jacobi-filtered-mixed, chebyshev-mixed, amg-mixed (begun in float), slepc-lobpcg, "
                 "slepc-krylovschur, slepc-gamg")
      ->delimiter(',');
  app.add_option("--csv", settings.csv, "file for the figures");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return settings;
}

int columns_at_work(const Settings& settings) {
  return settings.block_size > 0 ? settings.block_size : default_block_size(settings.pairs);
}

/// A preconditioner and what it is made of.
struct Preconditioner {
  std::unique_ptr<DistributedMatrix<float>> matrix_in_float;
  std::unique_ptr<LinearOperator<float>> inner;
  std::unique_ptr<LinearOperator<double>> outer;
  DenseBlock<double> start;  ///< vectors that come with it
  FloatOperators in_float;   ///< to begin in float with, for the contenders called mixed
};

bool is_mixed(const std::string& name) { return name.ends_with("-mixed"); }

/// The cycle and the start vectors that it gives.
void make_amg(const Context<double>& context, const Partition& partition, const CsrRows& rows,
              const std::string& name, int columns, Preconditioner& result) {
  GridHierarchy levels = name.starts_with("gamg") ? petsc::build_hierarchy(context.comm, rows, partition, {})
                                                  : smoothed_aggregation(context.comm, rows, partition, {});
  if (!name.ends_with("-float") && !is_mixed(name)) {
    auto cycle = std::make_unique<Amg<double>>(context, std::move(levels), AmgOptions{});
    result.start = cycle->start_vectors(columns, 1);
    result.outer = std::move(cycle);
    return;
  }
  const Context<float> in_float = with_precision<float>(context);
  auto cycle = std::make_unique<Amg<float>>(in_float, std::move(levels), AmgOptions{});
  const DenseBlock<float> start = cycle->start_vectors(columns, 1);
  result.start = DenseBlock<double>(context.device, start.rows(), start.cols());
  if (start.cols() > 0) in_float.kernels->convert(start.view(), {}, result.start.view());
  if (is_mixed(name)) result.in_float = {cycle->finest_matrix(), cycle.get()};
  result.inner = std::move(cycle);
  result.outer = std::make_unique<CastOperator>(context, *result.inner);
}

/// Those that need nothing but the matrix; null for the identity.
template <class T>
std::unique_ptr<LinearOperator<T>> make_polynomial(const Settings& settings, const Context<T>& context,
                                                   DistributedMatrix<T>& a, const std::string& name) {
  const bool constant_diagonal = is_constant(context.comm, a.diagonal());
  if (name.starts_with("jacobi") && !constant_diagonal) return std::make_unique<Jacobi<T>>(context, a.diagonal());
  if (!name.starts_with("chebyshev")) return nullptr;
  ChebyshevOptions options;
  options.degree = settings.degree;
  return std::make_unique<Chebyshev<T>>(context, a, a.diagonal(), a.scaled_gershgorin_bound(), options,
                                        constant_diagonal);
}

Preconditioner make_preconditioner(const Settings& settings, const Context<double>& context,
                                   const Partition& partition, const CsrRows& rows, DistributedMatrix<double>& a,
                                   const std::string& name) {
  Preconditioner result;
  if (name.starts_with("amg") || name.starts_with("gamg")) {
    make_amg(context, partition, rows, name, start_columns(settings.pairs, columns_at_work(settings)), result);
    return result;
  }
  result.outer = make_polynomial(settings, context, a, name);
  if (!is_mixed(name)) return result;
  const Context<float> in_float = with_precision<float>(context);
  result.matrix_in_float = std::make_unique<DistributedMatrix<float>>(in_float, rows, partition, partition);
  result.inner = make_polynomial(settings, in_float, *result.matrix_in_float, name);
  result.in_float = {result.matrix_in_float.get(), result.inner.get()};
  return result;
}

/// Builds everything from the rows in host memory, as the peers do, and solves.
EigenRun run_ours(const Settings& settings, const Context<double>& context, const Partition& partition,
                  const CsrRows& rows, const std::string& contender) {
  CsrRows consumed = rows;
  const auto began = std::chrono::steady_clock::now();
  DistributedMatrix<double> a(context, std::move(consumed), partition, partition);
  BlockSpace<double> space(context, partition);
  Preconditioner m = make_preconditioner(settings, context, partition, rows, a, contender);
  context.device->synchronize(Queue::compute);
  const double set_up = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  LobpcgOptions options;
  options.pairs = settings.pairs;
  options.block_size = settings.block_size;
  options.tolerance = settings.tolerance;
  options.max_iterations = settings.max_iterations;
  options.filtered_start = contender.starts_with("jacobi-filtered");
  EigenResult<double> result =
      lobpcg_mixed(space, a, m.outer.get(), m.in_float, nullptr, std::move(m.start), options);
  context.device->synchronize(Queue::compute);
  EigenRun run;
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  run.setup_seconds = set_up;
  run.iterations = result.iterations;
  run.eigenvalues = result.eigenvalues;
  run.vectors = result.eigenvectors.to_host();
  return run;
}

EigenContender make_contender(const std::string& name, const Settings& settings, const Context<double>& context,
                              const Partition& partition, const CsrRows& rows) {
  const auto slepc = [&](const std::string& options) {
    return slepc_contender(context.comm, rows, settings.pairs, settings.tolerance, settings.max_iterations, name,
                           options, settings.peer_device == "cuda" ? "aijcusparse" : "aij");
  };
  if (name == "slepc-lobpcg") return slepc("-eps_type lobpcg -st_ksp_type preonly -st_pc_type jacobi");
  if (name == "slepc-gamg") return slepc("-eps_type lobpcg -st_ksp_type preonly -st_pc_type gamg");
  if (name == "slepc-krylovschur") return slepc("-eps_type krylovschur");
  const std::array<std::string_view, 12> ours{
      "none",      "jacobi",          "jacobi-mixed", "jacobi-filtered", "jacobi-filtered-mixed",
      "chebyshev", "chebyshev-mixed", "amg",          "amg-float",       "amg-mixed",
      "gamg",      "gamg-float"};
  require(std::find(ours.begin(), ours.end(), name) != ours.end(), "unknown contender '" + name + "'");
  return {"block-eigs " + name, name.starts_with("chebyshev") ? fmt::format("degree {}", settings.degree) : "",
          [&settings, context, &partition, &rows, name] {
            return run_ours(settings, context, partition, rows, name);
          }};
}

void print(const Settings& settings, const Communicator& comm, const Context<double>& context, double floor,
           const std::vector<EigenScore>& scores) {
  fmt::print("{}^3 Laplacian (7 points), {} smallest pairs, relative residual {:.0e}, {} rank{}, {}\n",
             settings.grid, settings.pairs, settings.tolerance, comm.size(), comm.size() == 1 ? "" : "s",
             context.device->name());
  fmt::print(
      "seconds are set-up + solve, median of {} runs in turns; floor: {:.2f} ms an iteration at full width\n\n",
      settings.repeats, 1e3 * floor);
  fmt::print("{:<24}{:>9}{:>9}{:>9}{:>9}{:>7}{:>9}{:>7}{:>11}{:>10}\n", "", "median", "min", "max", "set-up",
             "iter", "ms/iter", "floor", "converged", "residual");
  for (const EigenScore& score : scores) {
    const double per_iteration = (score.median_seconds - score.setup_seconds) / std::max(score.iterations, 1);
    fmt::print("{:<24}{:>9.3f}{:>9.3f}{:>9.3f}{:>9.3f}{:>7}{:>9.2f}{:>7.2f}{:>8}/{:<2}{:>10.1e}  {}\n", score.name,
               score.median_seconds, score.fastest, score.slowest, score.setup_seconds, score.iterations,
               1e3 * per_iteration, floor / per_iteration, score.converged, settings.pairs, score.worst_residual,
               score.options);
  }
  fmt::print("\nratio of medians (row over column)\n{:<28}", "");
  for (const EigenScore& column : scores) fmt::print("{:>28}", column.name);
  fmt::print("\n");
  for (const EigenScore& row : scores) {
    fmt::print("{:<28}", row.name);
    for (const EigenScore& column : scores) fmt::print("{:>28.2f}", row.median_seconds / column.median_seconds);
    fmt::print("\n");
  }
}

void write_csv(const Settings& settings, int ranks, double floor, const std::vector<EigenScore>& scores) {
  std::ofstream file(settings.csv);
  file << "grid,pairs,tolerance,ranks,contender,options,median_s,min_s,max_s,setup_s,iterations,floor_s_per_"
          "iteration,converged,worst_residual\n";
  for (const EigenScore& s : scores) {
    file << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", settings.grid, settings.pairs,
                        settings.tolerance, ranks, s.name, s.options, s.median_seconds, s.fastest, s.slowest,
                        s.setup_seconds, s.iterations, floor, s.converged, s.worst_residual);
  }
}

/// Seconds that 26 words a row and column plus the SpMM take at the memory bandwidth that all ranks have together.
double floor_of_iteration(const Settings& settings, const Context<double>& context, GlobalIndex nonzeros) {
  const double rows = static_cast<double>(settings.grid) * settings.grid * settings.grid;
  const int width = columns_at_work(settings);
  const double bytes = rows * (28.0 * width * 8.0 + 8.0) + 12.0 * static_cast<double>(nonzeros);
  double bandwidth = 4.3e12;
  if (context.device->host_addressable()) {
    context.comm.barrier();
    bandwidth = context.comm.sum(measure_machine(1).bandwidth());
  }
  return bytes / bandwidth;
}

void run(const Settings& settings) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto context = make_context<double>(comm, backend_from_name(settings.device));
  LaplacianOptions grid;
  grid.size = {settings.grid, settings.grid, settings.grid};
  const auto source = laplacian3d(comm, grid);
  const Partition partition = Partition::uniform(source->rows(), comm.size());
  const CsrRows rows = source->read(partition);
  DistributedMatrix<double> a(context, rows, partition, partition);
  BlockSpace<double> space(context, partition);
  std::vector<EigenContender> contenders;
  for (const std::string& name : settings.contenders) {
    if (name.starts_with("slepc") && !have_slepc()) {
      if (comm.is_root()) fmt::print("{}: not in this build\n", name);
      continue;
    }
    contenders.push_back(make_contender(name, settings, context, partition, rows));
  }
  const auto scores = hold_contest(space, a, settings.tolerance, settings.repeats, contenders);
  const double floor = floor_of_iteration(settings, context, a.global_nonzeros());
  if (!comm.is_root()) return;
  print(settings, comm, context, floor, scores);
  if (!settings.csv.empty()) write_csv(settings, comm.size(), floor, scores);
}

}  // namespace
}  // namespace block_eigs::bench

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  try {
    block_eigs::bench::run(block_eigs::bench::read_settings(argc, argv));
    block_eigs::bench::end_slepc();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_lobpcg: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
}
