// bench_linear: our block CG and PETSc's solvers on the same Laplacian and right-hand sides, in turns, judged by
// the same code.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>

#include "apps/bench/linear_contest.hpp"
#include "apps/bench/peers/petsc_ksp.hpp"
#include "apps/bench/stream.hpp"
#include "io/generate/generate.hpp"
#include "io/petsc/bridge/petsc_hierarchy.hpp"
#include "solver/block_cg/block_cg_mixed.hpp"
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
  int grid = 64;
  int sides = 16;
  BlockCgOptions options;
  int repeats = 5;
  int degree = 6;
  std::string device = "auto";
  std::string peer_device = "host";
  std::vector<std::string> contenders{"jacobi", "chebyshev-float", "petsc-cg", "petsc-matsolve", "petsc-hpddm"};
  std::string csv;
};

Settings read_settings(int argc, char** argv) {
  Settings settings;
  settings.options.max_iterations = 5000;
  CLI::App app("Block CG and its peers on the 7-point Laplacian of a cube, random right-hand sides");
  app.add_option("--grid", settings.grid, "points along an edge");
  app.add_option("--sides", settings.sides, "right-hand sides");
  app.add_option("--block-size", settings.options.block_size, "right-hand sides that ours solves together");
  app.add_option("--tolerance", settings.options.tolerance, "relative residual");
  app.add_option("--max-iterations", settings.options.max_iterations, "for every contender");
  app.add_option("--repeats", settings.repeats, "runs that count, after one that does not");
  app.add_option("--degree", settings.degree, "of the Chebyshev preconditioners");
  app.add_option("--device", settings.device, "auto, host or cuda");
  app.add_option("--peer-device", settings.peer_device, "of PETSc's matrix and vectors: host or cuda")
      ->check(CLI::IsMember({"host", "cuda"}));
  app.add_option("--contenders", settings.contenders,
                 "none, jacobi, jacobi-mixed, chebyshev, chebyshev-mixed, chebyshev-float, amg, amg-float, gamg, "
                 "gamg-float (levels from PETSc), "
                 "petsc-cg, petsc-matsolve, petsc-gamg, petsc-hpddm")
      ->delimiter(',');
  app.add_option("--csv", settings.csv, "file for the figures");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return settings;
}

/// What all contenders are given.
struct Question {
  Context<double> context;
  Partition partition;
  CsrRows rows;
  DenseBlock<double> f;
  std::vector<double> f_values;  ///< own rows, row-major
};

/// A preconditioner and what it is made of.
struct Preconditioner {
  std::unique_ptr<DistributedMatrix<float>> matrix;
  std::unique_ptr<LinearOperator<float>> inner;
  std::unique_ptr<LinearOperator<double>> outer;
};

GridHierarchy build_levels(const Question& question, const std::string& name) {
  const Communicator& comm = question.context.comm;
  if (name.starts_with("gamg")) return petsc::build_hierarchy(comm, question.rows, question.partition, {});
  return smoothed_aggregation(comm, question.rows, question.partition, {});
}

/// The same in float, lent to the double solver.
void make_float_preconditioner(const Question& question, const DistributedMatrix<double>& a,
                               const std::string& name, const ChebyshevOptions& chebyshev,
                               Preconditioner& result) {
  const Context<float> context = with_precision<float>(question.context);
  if (name == "amg-float" || name == "gamg-float") {
    result.inner = std::make_unique<Amg<float>>(context, build_levels(question, name), AmgOptions{});
  } else {
    result.matrix =
        std::make_unique<DistributedMatrix<float>>(context, question.rows, question.partition, question.partition);
    result.inner =
        std::make_unique<Chebyshev<float>>(context, *result.matrix, a.diagonal(), a.scaled_gershgorin_bound(),
                                           chebyshev, is_constant(context.comm, a.diagonal()));
  }
  result.outer = std::make_unique<CastOperator>(question.context, *result.inner);
}

/// A in float and its preconditioner, for block_cg_mixed.
void make_for_rounds_in_float(const Question& question, const DistributedMatrix<double>& a,
                              const std::string& name, const ChebyshevOptions& chebyshev, Preconditioner& result) {
  const Context<float> context = with_precision<float>(question.context);
  result.matrix =
      std::make_unique<DistributedMatrix<float>>(context, question.rows, question.partition, question.partition);
  if (name == "chebyshev-mixed") {
    result.inner =
        std::make_unique<Chebyshev<float>>(context, *result.matrix, a.diagonal(), a.scaled_gershgorin_bound(),
                                           chebyshev, is_constant(context.comm, a.diagonal()));
  } else if (!is_constant(context.comm, a.diagonal())) {
    result.inner = std::make_unique<Jacobi<float>>(context, a.diagonal());
  }
}

Preconditioner make_preconditioner(const Settings& settings, const Question& question,
                                   DistributedMatrix<double>& a, const std::string& name) {
  Preconditioner result;
  ChebyshevOptions chebyshev;
  chebyshev.degree = settings.degree;
  const Context<double>& context = question.context;
  if (name.ends_with("mixed")) make_for_rounds_in_float(question, a, name, chebyshev, result);
  if (name.ends_with("float")) make_float_preconditioner(question, a, name, chebyshev, result);
  if (name == "jacobi" && !is_constant(context.comm, a.diagonal()))
    result.outer = std::make_unique<Jacobi<double>>(context, a.diagonal());
  if (name == "chebyshev") {
    result.outer = std::make_unique<Chebyshev<double>>(context, a, a.diagonal(), a.scaled_gershgorin_bound(),
                                                       chebyshev, is_constant(context.comm, a.diagonal()));
  }
  if (name == "amg" || name == "gamg") {
    result.outer = std::make_unique<Amg<double>>(context, build_levels(question, name), AmgOptions{});
  }
  return result;
}

/// Builds everything from the rows in host memory, as the peers do, and solves.
LinearRun run_ours(const Settings& settings, const Question& question, const std::string& preconditioner) {
  const Context<double>& context = question.context;
  CsrRows consumed = question.rows;
  const auto began = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  DistributedMatrix<double> a(context, std::move(consumed), question.partition, question.partition);
  BlockSpace<double> space(context, question.partition);
  const Preconditioner m = make_preconditioner(settings, question, a, preconditioner);
  context.device->synchronize(Queue::compute);
  LinearRun run;
  run.setup_seconds = elapsed();
  const BlockCgResult<double> result =
      m.matrix != nullptr && m.outer == nullptr
          ? block_cg_mixed(space, a, nullptr, *m.matrix, m.inner.get(), question.f, {}, settings.options)
          : block_cg<double>(space, a, m.outer.get(), question.f, {}, settings.options);
  context.device->synchronize(Queue::compute);
  run.seconds = elapsed();
  run.iterations = result.total_iterations;
  run.solution = result.solution.to_host();
  return run;
}

/// A contender by its name; without a name where this build does not have it.
LinearContender contender(const std::string& name, const Settings& settings, const Question& question) {
  const auto ksp = [&](KspUse use, const std::string& type, const std::string& options) {
    if (!have_ksp(question.context.comm, type)) return LinearContender{};
    return ksp_contender(question.context.comm, question.rows, question.f_values, settings.sides,
                         settings.options.tolerance, settings.options.max_iterations, name, use,
                         "-ksp_type " + type + " " + options,
                         settings.peer_device == "cuda" ? "aijcusparse" : "aij");
  };
  const std::string jacobi = "-pc_type jacobi -ksp_norm_type unpreconditioned";
  if (name == "petsc-cg") return ksp(KspUse::one_by_one, "cg", jacobi);
  if (name == "petsc-matsolve") return ksp(KspUse::together, "cg", jacobi);
  if (name == "petsc-gamg") return ksp(KspUse::one_by_one, "cg", "-pc_type gamg -ksp_norm_type unpreconditioned");
  if (name == "petsc-hpddm") return ksp(KspUse::together, "hpddm", "-ksp_hpddm_type bcg -pc_type jacobi");
  const std::vector<std::string> ours{"none",      "jacobi", "chebyshev",  "chebyshev-float", "amg",
                                      "amg-float", "gamg",   "gamg-float", "jacobi-mixed",    "chebyshev-mixed"};
  require(std::find(ours.begin(), ours.end(), name) != ours.end(), "unknown contender '" + name + "'");
  return {"block-solve " + name, name.starts_with("chebyshev") ? fmt::format("degree {}", settings.degree) : "",
          [&settings, &question, name] { return run_ours(settings, question, name); }};
}

/// Seconds that 13 words a row and column (16 with a preconditioner that reads and writes one), the SpMM's share
/// included, and the matrix take at the memory bandwidth that all ranks have together.
double floor_of_iteration(const Settings& settings, const Question& question, GlobalIndex nonzeros) {
  const double rows = static_cast<double>(question.partition.rows());
  const int width = std::min(settings.sides, settings.options.block_size);
  const double bytes = rows * (16.0 * width * 8.0 + 8.0) + 12.0 * static_cast<double>(nonzeros);
  double bandwidth = 4.3e12;
  if (question.context.device->host_addressable()) {
    question.context.comm.barrier();
    bandwidth = question.context.comm.sum(measure_machine(1).bandwidth());
  }
  return bytes / bandwidth;
}

void print(const Settings& settings, const Question& question, double floor,
           const std::vector<LinearScore>& scores) {
  const Communicator& comm = question.context.comm;
  fmt::print("{}^3 Laplacian (7 points), {} random right-hand sides, relative residual {:.0e}, {} rank{}, {}\n",
             settings.grid, settings.sides, settings.options.tolerance, comm.size(), comm.size() == 1 ? "" : "s",
             question.context.device->name());
  fmt::print(
      "seconds are set-up + solve, median of {} runs in turns; floor: {:.2f} ms a block iteration with Jacobi\n\n",
      settings.repeats, 1e3 * floor);
  fmt::print("{:<30}{:>9}{:>9}{:>9}{:>9}{:>7}{:>9}{:>7}{:>11}{:>10}\n", "", "median", "min", "max", "set-up",
             "iter", "ms/iter", "floor", "converged", "residual");
  for (const LinearScore& score : scores) {
    const double per_iteration = (score.median_seconds - score.setup_seconds) / std::max(score.iterations, 1);
    const bool ours = score.name.starts_with("block-solve");
    fmt::print("{:<30}{:>9.3f}{:>9.3f}{:>9.3f}{:>9.3f}{:>7}{:>9.2f}{:>7}{:>8}/{:<2}{:>10.1e}  {}\n", score.name,
               score.median_seconds, score.fastest, score.slowest, score.setup_seconds, score.iterations,
               1e3 * per_iteration, ours ? fmt::format("{:.2f}", floor / per_iteration) : "", score.converged,
               settings.sides, score.worst_residual, score.options);
  }
  fmt::print("\nratio of medians (row over column)\n{:<30}", "");
  for (const LinearScore& column : scores) fmt::print("{:>30}", column.name);
  fmt::print("\n");
  for (const LinearScore& row : scores) {
    fmt::print("{:<30}", row.name);
    for (const LinearScore& column : scores) fmt::print("{:>30.2f}", row.median_seconds / column.median_seconds);
    fmt::print("\n");
  }
}

void write_csv(const Settings& settings, int ranks, double floor, const std::vector<LinearScore>& scores) {
  std::ofstream file(settings.csv);
  file << "grid,sides,tolerance,ranks,contender,options,median_s,min_s,max_s,setup_s,iterations,floor_s_per_"
          "iteration,"
          "converged,worst_residual\n";
  for (const LinearScore& s : scores) {
    file << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", settings.grid, settings.sides,
                        settings.options.tolerance, ranks, s.name, s.options, s.median_seconds, s.fastest,
                        s.slowest, s.setup_seconds, s.iterations, floor, s.converged, s.worst_residual);
  }
}

void run(const Settings& settings) {
  const Communicator comm(MPI_COMM_WORLD);
  LaplacianOptions grid;
  grid.size = {settings.grid, settings.grid, settings.grid};
  const auto source = laplacian3d(comm, grid);
  const Partition partition = Partition::uniform(source->rows(), comm.size());
  Question question{
      make_context<double>(comm, backend_from_name(settings.device)), partition, source->read(partition), {}, {}};
  BlockSpace<double> space(question.context, partition);
  DistributedMatrix<double> a(question.context, question.rows, partition, partition);
  question.f = space.make_block(settings.sides);
  space.fill_random(question.f.view(), 1);
  question.f_values = question.f.to_host();
  std::vector<LinearContender> contenders;
  for (const std::string& name : settings.contenders) {
    LinearContender next = contender(name, settings, question);
    if (!next.name.empty()) {
      contenders.push_back(std::move(next));
    } else if (comm.is_root()) {
      fmt::print("{}: not in this build, or not in its PETSc\n", name);
    }
  }
  const auto scores = hold_contest(space, a, question.f, settings.options.tolerance, settings.repeats, contenders);
  const double floor = floor_of_iteration(settings, question, a.global_nonzeros());
  if (!comm.is_root()) return;
  print(settings, question, floor, scores);
  if (!settings.csv.empty()) write_csv(settings, comm.size(), floor, scores);
}

}  // namespace
}  // namespace block_eigs::bench

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  try {
    block_eigs::bench::run(block_eigs::bench::read_settings(argc, argv));
    block_eigs::bench::end_petsc();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_linear: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
}
