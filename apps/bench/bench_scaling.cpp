// What a halo exchange takes by each transport: mpirun -n 2 bench_scaling --device cuda. Every rank sends as many
// rows to the next one, in a ring; rounds follow one another as products do, each waiting for the one before.
// Bytes and rates are those of one rank in one direction. Then what a product with the Laplacian of a cube takes
// beside that of the ranks' own columns alone: the difference is what is seen of the halo. Then iterations of the
// solvers on rank 0 alone, on all ranks with the same matrix (strong) and with as many rows a rank (weak).
// scripts/plot-scaling fits a model to --csv and says what it comes to on more ranks.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/command_line.hpp"
#include "apps/bench/scaling_solvers.hpp"
#include "io/generate/generate.hpp"
#include "spmm/error.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/distributed_matrix.hpp"
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
  GlobalIndex grid = 128;
  int points = 7;
  int repeats = 5;
  int iterations = 20;
  std::vector<std::string> solvers = {"lobpcg", "chebyshev", "filter", "amg", "cg"};
  std::string solver_halo;
  std::vector<std::string> kinds = {"share", "strong", "weak"};
  bool products = true;
  std::string csv;
};

struct Figures {
  double seconds = 0.0;  ///< of a round, the median of the repeats
  double waits = 0.0;    ///< of the host for the device, in a round
  double crossed = 0.0;  ///< bytes between host and device memory, in a round
};

Options read_options(int argc, char** argv) {
  Options options;
  bench::CommandLine line("Halo exchanges between ranks, by transport");
  line.add("--device", options.device, "auto, host or cuda");
  line.add("--halo", options.ways, "staged, peer, nccl, auto");
  line.add("--bytes", options.bytes, "that a rank sends");
  line.add("--grid", options.grid, "points along an edge of the cube; 0: no products");
  line.add("--points", options.points, "of the Laplacian's stencil, 7 or 27");
  line.add("--columns", options.columns, "of the block").positive();
  line.add("--solvers", options.solvers, "lobpcg, chebyshev, filter, amg, cg, none");
  line.add("--iterations", options.iterations, "of a run of a solver").positive();
  line.add("--solver-halo", options.solver_halo, "what solvers are measured with; the last of --halo");
  line.add("--kinds", options.kinds, "share, strong, weak: what solvers run beside rank 0 alone")
      .one_of({"share", "strong", "weak"});
  line.add_flag("!--no-products", options.products, "no products with the whole matrix and with own columns");
  line.add("--csv", options.csv, "file to write");
  line.add("--repeats", options.repeats, "that count, after one that does not").positive();
  line.parse(argc, argv);
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

/// The entries in columns that the rank owns.
CsrRows own_columns(const CsrRows& rows) {
  CsrRows own;
  own.row_begin = rows.row_begin;
  own.global_rows = rows.global_rows;
  own.global_columns = rows.global_columns;
  const GlobalIndex end = rows.row_begin + rows.rows();
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (auto k = static_cast<std::size_t>(rows.row_offsets[row]);
         k < static_cast<std::size_t>(rows.row_offsets[row + 1]); ++k) {
      if (rows.columns[k] < rows.row_begin || rows.columns[k] >= end) continue;
      own.columns.push_back(rows.columns[k]);
      own.values.push_back(rows.values[k]);
    }
    own.row_offsets.push_back(static_cast<Offset>(own.columns.size()));
  }
  return own;
}

/// Seconds of a product, the median of the repeats.
double product_seconds(const Context<double>& context, CsrRows rows, const Partition& partition,
                       const Options& options) {
  DistributedMatrix<double> matrix(context, std::move(rows), partition, partition);
  DenseBlock<double> x(context.device, matrix.rows(), options.columns);
  DenseBlock<double> y(context.device, matrix.rows(), options.columns);
  context.kernels->fill(x.view(), 1.0);
  matrix.reserve(options.columns);
  constexpr int products = 50;
  std::vector<double> seconds;
  for (int repeat = 0; repeat <= options.repeats; ++repeat) {
    context.device->synchronize(Queue::compute);
    context.comm.barrier();
    const auto began = Clock::now();
    for (int i = 0; i < products; ++i) matrix.apply(x.view(), y.view());
    context.device->synchronize(Queue::compute);
    const double all = context.comm.max(std::chrono::duration<double>(Clock::now() - began).count());
    if (repeat > 0) seconds.push_back(all / products);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

void measure_products(const Context<double>& context, const Options& options, const std::string& way) {
  const Communicator& comm = context.comm;
  const auto source =
      laplacian3d(comm, {.size = {options.grid, options.grid, options.grid}, .points = options.points});
  const Partition partition = Partition::uniform(source->rows(), comm.size());
  const CsrRows rows = source->read(partition);
  const double whole = product_seconds(context, rows, partition, options);
  const double own = product_seconds(context, own_columns(rows), partition, options);
  if (!comm.is_root()) return;
  fmt::print("{} points, {} cubed: a product {:.1f} us, own columns alone {:.1f} us  {}\n", options.points,
             options.grid, 1e6 * whole, 1e6 * own, way);
  std::fflush(stdout);
}

/// One line a figure; columns that do not apply are empty.
class Table {
 public:
  explicit Table(const std::string& path) {
    if (path.empty()) return;
    file_.open(path);
    require(file_.is_open(), "cannot write " + path);
    file_ << "what,kind,transport,ranks,rows,bytes,seconds,efficiency,halos,messages,halo_bytes,halo_wait,"
             "reductions,"
             "reduction_seconds\n";
  }
  void add_halo(const std::string& way, int ranks, std::size_t bytes, double seconds) {
    file_ << fmt::format("halo,ring,{},{},,{},{:e},,,,,,,\n", way, ranks, bytes, seconds);
  }
  void add_sum(int ranks, std::size_t bytes, double seconds) {
    file_ << fmt::format("sum,,,{},,{},{:e},,,,,,,\n", ranks, bytes, seconds);
  }
  void add(const std::string& way, const bench::ScalingFigures& f) {
    file_ << fmt::format("{},{},{},{},{},,{:e},{:.4f},{:.3f},{:.3f},{:.0f},{:e},{:.3f},{:e}\n", f.solver, f.kind,
                         way, f.ranks, f.rows, f.seconds, f.efficiency, f.halos, f.messages, f.halo_bytes,
                         f.halo_wait, f.reductions, f.reduction_seconds);
  }

 private:
  std::ofstream file_;
};

void measure_sums(const Communicator& comm, Table& table) {
  for (const std::size_t values : {std::size_t{1}, std::size_t{1024}, std::size_t{8192}}) {
    const double seconds = bench::sum_seconds(comm, values);
    if (!comm.is_root()) continue;
    fmt::print("a sum of {} doubles over the ranks: {:.1f} us\n", values, 1e6 * seconds);
    table.add_sum(comm.size(), 8 * values, seconds);
  }
}

void measure_solvers(const Communicator& comm, const Options& options, Table& table) {
  if (options.grid <= 0 || options.solvers == std::vector<std::string>{"none"}) return;
  const std::string way = options.solver_halo.empty() ? options.ways.back() : options.solver_halo;
  const auto figures =
      bench::measure_solvers(comm, {options.device, way, options.solvers, options.grid, options.points,
                                    options.columns, options.iterations, options.repeats, options.kinds});
  if (!comm.is_root()) return;
  fmt::print("{} points, {} cubed a rank and in all, {} columns, halo: {}\n{}", options.points, options.grid,
             options.columns, way, bench::scaling_table(figures));
  for (const bench::ScalingFigures& line : figures) table.add(way, line);
}

void run(const Options& options) {
  const Communicator comm(MPI_COMM_WORLD);
  Table table(comm.is_root() ? options.csv : "");
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
      table.add_halo(way, comm.size(), bytes, figures.seconds);
      std::fflush(stdout);
    }
    if (options.grid > 0 && options.products) measure_products(context, options, way);
  }
  measure_sums(comm, table);
  measure_solvers(comm, options, table);
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
