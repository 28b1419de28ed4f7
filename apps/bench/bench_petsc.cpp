// bench_petsc: products of PETSc's own matrix type, aij or on a GPU aijcusparse, and of our blockcsr with dense
// blocks and with vectors, in turns, both with everything that is set up once behind them.

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <vector>

#include "apps/bench/command_line.hpp"
#include "apps/bench/peers/petsc_product.hpp"
#include "apps/bench/stream.hpp"
#include "io/generate/generate.hpp"
#include "spmm/error.hpp"

namespace block_eigs::bench {
namespace {

struct Settings {
  int grid = 64;
  std::vector<int> columns{0, 1, 4, 8, 16, 32};
  int repeats = 21;
  int in_a_row = 0;
  std::string device = "host";
  std::string csv;
};

Settings read_settings(int argc, char** argv) {
  Settings settings;
  CommandLine line(
      "A B for the 7-point Laplacian of a cube: PETSc's own type and our blockcsr in turns, one thread a rank");
  line.add("--grid", settings.grid, "points along an edge");
  line.add("--columns", settings.columns, "of B, separated by commas; 0 is MatMult with vectors");
  line.add("--repeats", settings.repeats, "runs of each");
  line.add("--device", settings.device, "where vectors and blocks are: host, or cuda beside aijcusparse")
      .one_of({"host", "cuda"});
  line.add("--in-a-row", settings.in_a_row, "products that are timed at once; 0: 1 on the host, 10 on a GPU");
  line.add("--csv", settings.csv, "file for the figures");
  line.parse(argc, argv);
  if (settings.in_a_row == 0) settings.in_a_row = settings.device == "cuda" ? 10 : 1;
  return settings;
}

/// Seconds of a product, of the slowest rank.
double seconds_of(const Settings& settings, const Communicator& comm, PetscProduct& product) {
  product.finish();
  comm.barrier();
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < settings.in_a_row; ++i) product.multiply();
  product.finish();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return comm.max(seconds) / settings.in_a_row;
}

/// Bytes a second that a copy moves in the memory of an H200, measured.
constexpr double gpu_bandwidth = 4.26e12;

struct Times {
  double median = 0.0;
  double least = 0.0;
};

Times times_of(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return {seconds[seconds.size() / 2], seconds.front()};
}

struct Result {
  int columns = 0;
  std::string type;
  Times aij;
  Times ours;
  double floor = 0.0;
  double difference = 0.0;
};

/// The matrix as PETSc stores it (4-byte indices) once, B read once and C written once.
double floor_of(const CsrRows& rows, const Communicator& comm, int columns, double bandwidth) {
  const double nonzeros = static_cast<double>(comm.sum(rows.nonzeros()));
  const double height = static_cast<double>(rows.global_rows);
  return (12.0 * nonzeros + 4.0 * height + 16.0 * height * std::max(columns, 1)) / bandwidth;
}

Result compare(const Settings& settings, const Communicator& comm, const CsrRows& rows, const Partition& partition,
               int columns) {
  const bool on_gpu = settings.device == "cuda";
  const auto aij = petsc_product(comm, rows, partition, on_gpu ? "aijcusparse" : "aij", columns, on_gpu);
  const auto ours = petsc_product(comm, rows, partition, "blockcsr", columns, on_gpu);
  std::vector<double> aij_seconds;
  std::vector<double> our_seconds;
  for (int i = 0; i < settings.repeats; ++i) {
    aij_seconds.push_back(seconds_of(settings, comm, *aij));
    our_seconds.push_back(seconds_of(settings, comm, *ours));
  }
  Result result{columns, ours->type(), times_of(aij_seconds), times_of(our_seconds)};
  result.difference = aij->difference(*ours);
  return result;
}

void print(const Settings& settings, const Communicator& comm, const std::vector<Result>& results) {
  fmt::print(
      "{}^3 Laplacian (7 points), {} rank{}, one thread each, {}; milliseconds a product, median (least) of {} "
      "runs of {} in turns\n\n",
      settings.grid, comm.size(), comm.size() == 1 ? "" : "s", settings.device, settings.repeats,
      settings.in_a_row);
  fmt::print("{:<12}{:>22}{:>22}{:>9}{:>9}{:>11}{:>12}\n", "columns",
             settings.device == "cuda" ? "aijcusparse" : "aij", "blockcsr", "ratio", "floor", "fraction",
             "difference");
  for (const Result& r : results) {
    fmt::print("{:<12}{:>12.3f} ({:>7.3f}){:>12.3f} ({:>7.3f}){:>9.2f}{:>9.3f}{:>11.2f}{:>12.1e}\n",
               r.columns == 0 ? "vector" : std::to_string(r.columns), 1e3 * r.aij.median, 1e3 * r.aij.least,
               1e3 * r.ours.median, 1e3 * r.ours.least, r.aij.median / r.ours.median, 1e3 * r.floor,
               r.floor / r.ours.median, r.difference);
  }
}

void write_csv(const Settings& settings, const Communicator& comm, const std::vector<Result>& results) {
  std::ofstream csv(settings.csv);
  if (!csv) throw RunError("cannot write " + settings.csv);
  csv << "grid,ranks,columns,type,aij_ms,aij_least_ms,blockcsr_ms,blockcsr_least_ms,ratio,floor_ms,difference\n";
  for (const Result& r : results) {
    csv << fmt::format("{},{},{},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.3f},{:.4f},{:.1e}\n", settings.grid,
                       comm.size(), r.columns, r.type, 1e3 * r.aij.median, 1e3 * r.aij.least, 1e3 * r.ours.median,
                       1e3 * r.ours.least, r.aij.median / r.ours.median, 1e3 * r.floor, r.difference);
  }
}

void run(const Settings& settings) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto source = laplacian3d(comm, {.size = {settings.grid, settings.grid, settings.grid}});
  const Partition partition = Partition::uniform(source->rows(), comm.size());
  const CsrRows rows = source->read(partition);
  comm.barrier();
  // Ranks share one GPU.
  const double bandwidth = settings.device == "cuda" ? gpu_bandwidth : comm.sum(measure_machine(1).bandwidth());
  std::vector<Result> results;
  for (const int columns : settings.columns) {
    results.push_back(compare(settings, comm, rows, partition, columns));
    results.back().floor = floor_of(rows, comm, columns, bandwidth);
  }
  if (comm.is_root()) print(settings, comm, results);
  if (comm.is_root() && !settings.csv.empty()) write_csv(settings, comm, results);
  end_petsc_products();
}

}  // namespace
}  // namespace block_eigs::bench

int main(int argc, char** argv) {
  const auto settings = block_eigs::bench::read_settings(argc, argv);
  MPI_Init(&argc, &argv);
  try {
    block_eigs::bench::run(settings);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_petsc: {}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Finalize();
  return 0;
}
