// What an exchange of ghost rows takes with nothing to hide it: mpirun -n 2 bench_halo --device cuda --halo peer.
// Every rank gets rows of the one before and of the one behind it. Times are those of the slowest rank, of many
// exchanges one after the other. The floor is a copy of the bytes within the memory of the device.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "apps/bench/command_line.hpp"
#include "apps/bench/ranks_program.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/parallel/halo_exchange.hpp"

namespace {

using namespace block_eigs;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string device = "auto";
  std::string halo = "auto";
  int repeats = 15;
};

/// Rows from each neighbour, and their columns.
struct Size {
  LocalIndex rows;
  LocalIndex columns;
};

/// Seconds of the slowest rank for one of `many` calls, the median and the least of `repeats`.
struct Seconds {
  double median;
  double least;
};

template <class Call>
Seconds measure(const Context<double>& context, int repeats, int many, const Call& call) {
  std::vector<double> seconds;
  for (int i = 0; i <= repeats; ++i) {
    context.comm.barrier();
    const Clock::time_point began = Clock::now();
    for (int turn = 0; turn < many; ++turn) call();
    context.device->synchronize(Queue::compute);
    const double taken = context.comm.max(std::chrono::duration<double>(Clock::now() - began).count());
    if (i > 0) seconds.push_back(taken / many);
  }
  std::sort(seconds.begin(), seconds.end());
  return {seconds[seconds.size() / 2], seconds.front()};
}

void show(const Context<double>& context, Size size, int repeats) {
  const Communicator& comm = context.comm;
  const GlobalIndex own = 3 * GlobalIndex{size.rows};
  const Partition partition = Partition::uniform(own * comm.size(), comm.size());
  std::vector<GlobalIndex> ghosts;
  const auto add_rows = [&](GlobalIndex first) {
    for (LocalIndex i = 0; i < size.rows; ++i) ghosts.push_back(first + i);
  };
  if (comm.rank() > 0) add_rows(partition.begin(comm.rank()) - size.rows);
  if (comm.rank() + 1 < comm.size()) add_rows(partition.end(comm.rank()));
  HaloExchange<double> exchange(context, HaloPlan(comm, partition, ghosts));
  exchange.reserve(size.columns);
  DenseBlock<double> x(context.device, static_cast<LocalIndex>(own), size.columns);
  context.kernels->fill_random(x.view(), 1, partition.begin(comm.rank()));
  const std::size_t bytes = sizeof(double) * static_cast<std::size_t>(size.rows) * size.columns;
  const int many = bytes > 100'000 ? 200 : 2000;
  const Seconds taken = measure(context, repeats, many, [&] {
    exchange.begin(x.view());
    exchange.progress();
    exchange.finish();
  });
  Device& device = *context.device;
  std::byte* const from = reinterpret_cast<std::byte*>(x.view().data);
  const Seconds floor =
      measure(context, repeats, many, [&] { device.copy_within(from + bytes, from, bytes, Queue::compute); });
  if (!comm.is_root()) return;
  fmt::print("{:6} x {:<3} {:9} bytes {:10.2f} us, least {:8.2f}; floor {:8.2f}, of which it reaches {:.2f}\n",
             size.rows, size.columns, bytes, 1e6 * taken.median, 1e6 * taken.least, 1e6 * floor.median,
             floor.median / taken.median);
}

void run(const Communicator& comm, const Options& options) {
  const Context<double> context =
      make_context<double>(comm, backend_from_name(options.device), halo_way_from_name(options.halo));
  const std::string way = context.transport->description();
  if (comm.is_root())
    fmt::print("{} ranks, {}; halo: {}\nrows x columns from each neighbour\n", comm.size(), context.device->name(),
               way.empty() ? options.halo : way);
  for (const Size size : {Size{10, 1}, {50, 4}, {300, 16}, {2304, 1}, {2304, 20}, {10'000, 20}})
    show(context, size, options.repeats);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bench::CommandLine line{"Halos from rank to rank, by each transport"};
  line.add("--device", options.device, "auto, host or cuda");
  line.add("--halo", options.halo, "how rows get there").one_of({"auto", "staged", "peer", "nccl"});
  line.add("--repeats", options.repeats, "medians of so many").positive();
  return bench::run_on_ranks(argc, argv, line, [&](const Communicator& comm) { run(comm, options); });
}
