// Block kernels (Gram, update, residual, element-wise) at the shapes of LOBPCG, beside their floors and cuBLAS.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <thread>
#include <vector>

#include "apps/bench/bench_block_cases.hpp"
#include "apps/bench/bench_block_report.hpp"
#include "apps/bench/command_line.hpp"
#include "apps/bench/stream.hpp"
#include "spmm/error.hpp"
#include "spmm/host/runtime/threads.hpp"

namespace block_eigs::bench {
namespace {

struct BlockBenchOptions {
  std::string device = "auto";
  LocalIndex rows = 0;  ///< 0: 4.2 million on a GPU, 200,000 on the host
  std::vector<LocalIndex> columns{4, 8, 16, 32, 64};
  std::vector<std::string> precisions{"double", "float"};
  std::string only;  ///< kernels whose name has this in it
  int repeats = 11;
  double rest = 0.0;  ///< seconds
  double bandwidth =
      0.0;  ///< bytes a second for the floor; 0: 4.3e12 on a GPU (an H200's copy), measured on the host
  double arithmetic = 0.0;  ///< operations a second; 0: 60e12 on a GPU, measured on the host
  std::string csv;
  bool check = false;
};

BlockBenchOptions parse(int argc, char** argv) {
  BlockBenchOptions options;
  CommandLine line("Block kernels beside their floors and cuBLAS");
  line.add("--device", options.device, "auto, host or cuda");
  line.add("--rows", options.rows, "rows of the blocks (default: 4200000 on a GPU, 200000 on the host)");
  line.add("-b,--columns", options.columns, "columns of one block");
  line.add("--precision", options.precisions, "double, float or both");
  line.add("--only", options.only, "kernels whose name contains this");
  line.add("--repeats", options.repeats, "runs that the median is taken of");
  line.add("--rest", options.rest,
           "seconds of rest before each kernel, so that none is slowed by the power that others drew");
  line.add("--bandwidth", options.bandwidth, "bytes a second of the floor (default: 4.3e12 on a GPU)");
  line.add("--arithmetic", options.arithmetic, "operations a second of the floor (default: 60e12 on a GPU)");
  line.add("--csv", options.csv, "file for the figures");
  line.add_flag("--check", options.check, "compare all outputs with the host kernels");
  line.parse(argc, argv);
  return options;
}

/// Median seconds in the compute queue over `repeats` runs after a rest and three that warm up.
double median_seconds(Device& device, const BlockBenchOptions& options, const std::function<void()>& work) {
  std::this_thread::sleep_for(std::chrono::duration<double>(options.rest));
  const auto begin = device.make_event();
  const auto end = device.make_event();
  std::vector<double> seconds;
  for (int k = -3; k < options.repeats; ++k) {
    device.record(*begin, Queue::compute);
    work();
    device.record(*end, Queue::compute);
    const double taken = device.seconds_between(*begin, *end);
    if (k >= 0) seconds.push_back(taken);
  }
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2),
                   seconds.end());
  return seconds[seconds.size() / 2];
}

/// Runs `index` once on both backends from the same numbers.
template <class T>
double difference_from_host(BlockCases<T>& cases, const BlockCase& here, LocalIndex rows, LocalIndex b,
                            std::size_t index) {
  BlockCases<T> on_host(make_device(Backend::host, 0), rows, b, false);
  const BlockCase there = on_host.list()[index];
  cases.fill();
  here.run();
  there.run();
  return largest_difference(cases, here, on_host, there);
}

template <class T>
void measure(const std::shared_ptr<Device>& device, const BlockBenchOptions& options, LocalIndex b,
             const std::string& precision, BlockReport& report) {
  BlockCases<T> cases(device, options.rows, b, true);
  const std::vector<BlockCase> list = cases.list();
  for (std::size_t k = 0; k < list.size(); ++k) {
    const BlockCase& one = list[k];
    if (one.name.find(options.only) == std::string::npos) continue;
    BlockMeasurement measurement;
    measurement.name = one.name;
    measurement.precision = precision;
    measurement.b = b;
    measurement.seconds = median_seconds(*device, options, one.run);
    const double bytes = one.words * sizeof(T);
    measurement.floor = options.rows * std::max(bytes / options.bandwidth, one.flops / options.arithmetic);
    if (one.peer) measurement.peer_seconds = median_seconds(*device, options, one.peer);
    if (options.check) {
      // rounding of T in what is stored, of sums over all rows in what is handed to the host
      measurement.tolerance = 256.0 * static_cast<double>(std::numeric_limits<T>::epsilon());
      measurement.difference = difference_from_host(cases, one, options.rows, b, k);
    }
    report.add(measurement);
  }
}

/// Fills in what depends on the device.
void complete(BlockBenchOptions& options, const Device& device) {
  const bool gpu = device.backend() == Backend::cuda;
  if (options.rows == 0) options.rows = gpu ? 4'200'000 : 200'000;
  if (!gpu && (options.bandwidth == 0.0 || options.arithmetic == 0.0)) {
    const int threads = host::threads();
    const MachineRates rates = measure_machine(threads);
    if (options.bandwidth == 0.0) options.bandwidth = rates.bandwidth();
    if (options.arithmetic == 0.0) options.arithmetic = rates.dgemm_rate * threads;
  }
  if (options.bandwidth == 0.0) options.bandwidth = 4.3e12;
  if (options.arithmetic == 0.0) options.arithmetic = 60e12;
}

int run(int argc, char** argv) {
  BlockBenchOptions options = parse(argc, argv);
  host::set_threads(host::default_threads(1));
  const std::shared_ptr<Device> device = make_device(backend_from_name(options.device), 0);
  complete(options, *device);
  fmt::print("{}; {} rows; floor: max(bytes / {:.3g} GB/s, operations / {:.3g} GFLOP/s); median of {}\n",
             device->name(), options.rows, 1e-9 * options.bandwidth, 1e-9 * options.arithmetic, options.repeats);
  BlockReport report(options.csv);
  for (const std::string& precision : options.precisions) {
    require(precision == "double" || precision == "float", "--precision is double or float, not " + precision);
    for (const LocalIndex b : options.columns) {
      if (precision == "double")
        measure<double>(device, options, b, precision, report);
      else
        measure<float>(device, options, b, precision, report);
    }
  }
  if (report.wrong() == 0) return static_cast<int>(ExitCode::success);
  fmt::print("{} cases differ from the host kernels\n", report.wrong());
  return static_cast<int>(ExitCode::run_failed);
}

}  // namespace
}  // namespace block_eigs::bench

int main(int argc, char** argv) {
  try {
    return block_eigs::bench::run(argc, argv);
  } catch (const block_eigs::Error& error) {
    fmt::print(stderr, "bench_block: {}\n", error.what());
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_block: {}\n", error.what());
    return static_cast<int>(block_eigs::ExitCode::run_failed);
  }
}
