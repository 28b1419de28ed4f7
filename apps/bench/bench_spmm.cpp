// Sparse times dense block: both algorithms and the rule's choice, beside their floor and cuSPARSE.
#include <fmt/core.h>
#include <mpi.h>

#include <cstdlib>
#include <future>

#include "apps/bench/bench_spmm_cases.hpp"
#include "apps/bench/bench_spmm_report.hpp"
#include "apps/bench/command_line.hpp"
#include "apps/bench/stream.hpp"
#include "spmm/error.hpp"
#include "spmm/host/runtime/threads.hpp"

namespace block_eigs::bench {
namespace {

struct SpmmBenchOptions {
  std::string device = "auto";
  std::string cases;
  std::string matrices = "../shared/matrices";
  std::vector<LocalIndex> columns;
  std::vector<std::string> precisions;
  std::string only;  ///< matrices whose name or group has this in it
  std::string csv;
  bool paper = false;
  SpmmBenchSettings settings;
};

SpmmBenchOptions parse(int argc, char** argv) {
  SpmmBenchOptions options;
  if (const char* folder = std::getenv("BLOCK_EIGS_MATRICES"); folder != nullptr) options.matrices = folder;
  CommandLine line("Sparse times dense block beside its floor and cuSPARSE");
  line.add("--device", options.device, "auto, host or cuda");
  line.add("--cases", options.cases, "file that lists the matrices (default: spmm_cases.txt of the source tree)");
  line.add("--matrices", options.matrices, "folder of the matrix files (or BLOCK_EIGS_MATRICES)");
  line.add("-n,--columns", options.columns, "columns of B (default: 4,8,16,32,64)");
  line.add("--precision", options.precisions, "double, float or both (default)");
  line.add("--only", options.only, "matrices whose name or group contains this");
  line.add("--repeats", options.settings.repeats, "runs that the median is taken of");
  line.add("--bandwidth", options.settings.bandwidth, "bytes a second of the floor (default: measured)");
  line.add("--csv", options.csv, "file for the figures");
  line.add_flag("--check", options.settings.check, "compare all outputs with the host backend");
  line.add_flag("--paper", options.paper,
                "the experiments of Yang, Buluc, Owens (2018): spmm_paper_cases.txt, 64 columns, float");
  line.parse(argc, argv);
  const std::string folder = BLOCK_EIGS_BENCH_FOLDER;
  if (options.cases.empty())
    options.cases = folder + (options.paper ? "/spmm_paper_cases.txt" : "/spmm_cases.txt");
  if (options.columns.empty())
    options.columns = options.paper ? std::vector<LocalIndex>{64} : std::vector<LocalIndex>{4, 8, 16, 32, 64};
  if (options.precisions.empty())
    options.precisions =
        options.paper ? std::vector<std::string>{"float"} : std::vector<std::string>{"double", "float"};
  return options;
}

bool is_wanted(const SpmmBenchOptions& options, const SpmmCase& one) {
  return one.name.find(options.only) != std::string::npos || one.group.find(options.only) != std::string::npos;
}

template <class T>
void measure(const std::shared_ptr<Device>& device, const SpmmBenchOptions& options, const SpmmCase& one,
             const CsrArrays<double>& matrix, ColdTimer& timer, SpmmReport& report) {
  SpmmBenchSettings settings = options.settings;
  settings.dense_peer = options.paper && one.kind == "random_fill";
  SpmmBench<T> bench(device, matrix, settings);
  for (const LocalIndex n : options.columns) {
    SpmmMeasurement measurement = bench.measure(n, timer);
    measurement.group = one.group;
    measurement.name = one.name;
    report.add(measurement);
  }
}

/// The next matrix is made on another thread while one is measured.
void run_cases(const Communicator& comm, const std::shared_ptr<Device>& device, const SpmmBenchOptions& options,
               ColdTimer& timer, SpmmReport& report) {
  std::vector<SpmmCase> cases = read_spmm_cases(options.cases);
  std::erase_if(cases, [&](const SpmmCase& one) { return !is_wanted(options, one); });
  require(!cases.empty(), options.cases + " has no matrix with \"" + options.only + "\" in its name or group");
  const auto start = [&](const SpmmCase& one) {
    return std::async(std::launch::async, [&] { return make_spmm_matrix(comm, one, options.matrices); });
  };
  std::future<CsrArrays<double>> next = start(cases.front());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const CsrArrays<double> matrix = next.get();
    if (i + 1 < cases.size()) next = start(cases[i + 1]);
    for (const std::string& precision : options.precisions) {
      if (precision == "double")
        measure<double>(device, options, cases[i], matrix, timer, report);
      else
        measure<float>(device, options, cases[i], matrix, timer, report);
    }
  }
}

int run(int argc, char** argv) {
  SpmmBenchOptions options = parse(argc, argv);
  for (const std::string& precision : options.precisions) {
    require(precision == "double" || precision == "float", "--precision is double or float, not " + precision);
  }
  for (const LocalIndex n : options.columns) require(n >= 1, "--columns must be positive");
  require(options.settings.repeats >= 1, "--repeats must be positive");
  const Communicator comm(MPI_COMM_WORLD);
  require(comm.size() == 1, "bench_spmm runs on one rank");
  host::set_threads(host::default_threads(1));
  const std::shared_ptr<Device> device = make_device(backend_from_name(options.device), 0);
  ColdTimer timer(device);
  if (options.settings.bandwidth == 0.0) {
    options.settings.bandwidth =
        device->host_addressable() ? measure_machine(host::threads()).bandwidth() : timer.copy_bandwidth();
  }
  fmt::print("{}; floor: bytes over {:.0f} GB/s; median of {}, caches flushed before each\n", device->name(),
             1e-9 * options.settings.bandwidth, options.settings.repeats);
  SpmmReport report(options.csv);
  run_cases(comm, device, options, timer, report);
  report.print_summary();
  if (report.wrong() == 0) return static_cast<int>(ExitCode::success);
  fmt::print("{} cases differ from the host backend\n", report.wrong());
  return static_cast<int>(ExitCode::run_failed);
}

int run_or_report(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    fmt::print(stderr, "bench_spmm: {}\n", error.what());
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_spmm: {}\n", error.what());
    return static_cast<int>(ExitCode::run_failed);
  }
}

}  // namespace
}  // namespace block_eigs::bench

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  const int code = block_eigs::bench::run_or_report(argc, argv);
  MPI_Finalize();
  return code;
}
