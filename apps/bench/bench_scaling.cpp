// What a halo exchange takes by each transport: mpirun -n 2 bench_scaling --device cuda. Every rank sends as many
// rows to the next one, in a ring; rounds follow one another as products do, each waiting for the one before.
// Bytes and rates are those of one rank in one direction.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "spmm/matrix/dense_block.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/parallel/halo_exchange.hpp"

namespace {

using namespace block_eigs;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string device = "auto";
  std::vector<std::string> ways = {"staged", "peer"};
  std::vector<std::size_t> bytes = {8192, 65536, 1 << 20, 64 << 20};
  LocalIndex columns = 16;
  int repeats = 5;
};

struct Figures {
  double seconds = 0.0;  ///< of a round, the median of the repeats
  double waits = 0.0;    ///< of the host for the device, in a round
  double crossed = 0.0;  ///< bytes between host and device memory, in a round
};

Options read_options(int argc, char** argv) {
  Options options;
  CLI::App app("Halo exchanges between ranks, by transport");
  app.add_option("--device", options.device, "auto, host or cuda");
  app.add_option("--halo", options.ways, "staged, peer, auto")->delimiter(',');
  app.add_option("--bytes", options.bytes, "that a rank sends")->delimiter(',');
  app.add_option("--columns", options.columns, "of the block")->check(CLI::PositiveNumber);
  app.add_option("--repeats", options.repeats, "that count, after one that does not")->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& mistake) {
    MPI_Abort(MPI_COMM_WORLD, app.exit(mistake));
  }
  return options;
}

TransferCount operator-(const TransferCount& after, const TransferCount& before) {
  return {after.to_device - before.to_device, after.to_host - before.to_host,
          after.host_waits - before.host_waits};
}

Figures measure(const Context<double>& context, std::size_t bytes, const Options& options) {
  const Communicator& comm = context.comm;
  const auto rows = static_cast<LocalIndex>(
      std::max<std::size_t>(bytes / sizeof(double) / static_cast<std::size_t>(options.columns), 1));
  const Partition partition = Partition::uniform(GlobalIndex{rows} * comm.size(), comm.size());
  const GlobalIndex first = partition.begin((comm.rank() + 1) % comm.size());
  std::vector<GlobalIndex> ghosts(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < ghosts.size(); ++i) ghosts[i] = first + static_cast<GlobalIndex>(i);
  HaloExchange<double> exchange(context, HaloPlan(comm, partition, ghosts));
  DenseBlock<double> x(context.device, rows, options.columns);
  context.kernels->fill(x.view(), 1.0);
  exchange.reserve(options.columns);
  const int rounds = bytes > (std::size_t{4} << 20) ? 20 : 400;
  std::vector<double> seconds;
  TransferCount before;
  for (int repeat = 0; repeat <= options.repeats; ++repeat) {
    context.device->synchronize(Queue::compute);
    comm.barrier();
    if (repeat == 1) before = context.device->transferred();
    const auto began = Clock::now();
    for (int round = 0; round < rounds; ++round) {
      exchange.begin(x.view());
      exchange.finish();
    }
    context.device->synchronize(Queue::compute);
    const double all = comm.max(std::chrono::duration<double>(Clock::now() - began).count());
    if (repeat > 0) seconds.push_back(all / rounds);
  }
  std::sort(seconds.begin(), seconds.end());
  const TransferCount spent = context.device->transferred() - before;
  const double all_rounds = static_cast<double>(rounds) * options.repeats;
  // The clock makes the host wait twice a repeat, the first time before the count begins.
  const double waits = std::max(static_cast<double>(spent.host_waits) - (2.0 * options.repeats - 1.0), 0.0);
  return {seconds[seconds.size() / 2], waits / all_rounds,
          static_cast<double>(spent.to_device + spent.to_host) / all_rounds};
}

void run(const Options& options) {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.is_root())
    fmt::print("{} ranks, blocks of {} columns\n{:>12} {:>12} {:>12} {:>12} {:>12}  {}\n", comm.size(),
               options.columns, "bytes", "us a round", "GB/s", "host waits", "over PCIe", "transport");
  for (const std::string& way : options.ways) {
    const Context<double> context =
        make_context<double>(comm, backend_from_name(options.device), halo_way_from_name(way));
    for (const std::size_t bytes : options.bytes) {
      const Figures figures = measure(context, bytes, options);
      if (!comm.is_root()) continue;
      fmt::print("{:>12} {:>12.2f} {:>12.3f} {:>12.3f} {:>12.0f}  {}: {}\n", bytes, 1e6 * figures.seconds,
                 1e-9 * static_cast<double>(bytes) / figures.seconds, figures.waits, figures.crossed, way,
                 context.transport->description());
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  try {
    run(read_options(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_scaling: error: {}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Finalize();
}
