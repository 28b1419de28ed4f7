// What the set-up of multigrid takes where the matrix is, stage by stage, and what the eigensolver makes of the
// levels: [mpirun -n 2] bench_setup --device cuda --grid 128 [--elasticity | --graph 18] [--repeats 5]. Times are
// those of the slowest rank. The floor of a level, printed on one rank, counts its matrix read once, and the
// interpolation, the restriction and the next matrix written once, at the rate of a copy within the device. Of
// memory the most is told that the levels take while they are made, beside the matrix.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apps/bench/command_line.hpp"
#include "apps/bench/ranks_program.hpp"
#include "apps/bench/setup_memory.hpp"
#include "io/generate/generate.hpp"
#include "solver/lobpcg/lobpcg_mixed.hpp"
#include "solver/multigrid/amg.hpp"
#include "solver/multigrid/nested_iteration.hpp"
#include "solver/preconditioner/cast_operator.hpp"
#include "solver/space/block_space.hpp"

namespace {

using namespace block_eigs;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string device = "auto";
  HaloWay halo = HaloWay::automatic;
  GlobalIndex grid = 64;
  bool elasticity = false;
  int graph = 0;  ///< log2 of the vertices, 0 for a grid
  int repeats = 5;
  int pairs = 16;
};

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Problem {
  Context<double> context;
  Partition partition;
  CsrRows rows;
  NearNullSpace space;
  std::unique_ptr<DistributedMatrix<double>> matrix;
};

/// Of rank 0 alone.
template <class... Values>
void tell(const Communicator& comm, fmt::format_string<Values...> text, Values&&... values) {
  if (comm.is_root()) fmt::print(text, std::forward<Values>(values)...);
}

/// The Laplacian of a random graph plus the identity, whose rows without edges would be zero.
std::unique_ptr<MatrixSource> graph_source(const Communicator& comm, int scale) {
  RmatOptions graph;
  graph.scale = scale;
  graph.edge_factor = 8;
  return graph_laplacian(comm, graph);
}

void add_identity(CsrRows& rows) {
  for (std::size_t i = 0; i + 1 < rows.row_offsets.size(); ++i) {
    for (Offset k = rows.row_offsets[i]; k < rows.row_offsets[i + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (rows.columns[at] == rows.row_begin + static_cast<GlobalIndex>(i)) rows.values[at] += 1.0;
    }
  }
}

Problem make_problem(const Communicator& comm, const Options& options) {
  Problem problem{make_context<double>(comm, backend_from_name(options.device), options.halo), {}, {}, {}, {}};
  const std::vector<GlobalIndex> size(3, options.grid);
  std::unique_ptr<MatrixSource> source;
  if (options.elasticity) {
    ElasticityOptions elastic;
    elastic.size = size;
    source = elasticity3d(comm, elastic);
    problem.space.modes = 6;
    problem.space.unknowns_per_node = 3;
    constexpr GlobalIndex unknowns = 3;  // which stay together
    std::vector<GlobalIndex> offsets = Partition::uniform(source->rows() / unknowns, comm.size()).offsets();
    for (GlobalIndex& offset : offsets) offset *= unknowns;
    problem.partition = Partition(std::move(offsets));
    problem.space.vectors = elasticity3d_rigid_body_modes(elastic, problem.partition.begin(comm.rank()),
                                                          problem.partition.end(comm.rank()));
  } else if (options.graph > 0) {
    source = graph_source(comm, options.graph);
    problem.partition = Partition::uniform(source->rows(), comm.size());
  } else {
    LaplacianOptions laplacian;
    laplacian.size = size;
    source = laplacian3d(comm, laplacian);
    problem.partition = Partition::uniform(source->rows(), comm.size());
  }
  problem.rows = source->read(problem.partition);
  if (options.graph > 0) add_identity(problem.rows);
  std::vector<double> seconds;
  for (int i = 0; i <= options.repeats; ++i) {
    CsrRows rows = copy_of(problem.rows);
    problem.matrix.reset();
    problem.context.device->synchronize(Queue::compute);
    comm.barrier();
    const Clock::time_point began = Clock::now();
    problem.matrix = std::make_unique<DistributedMatrix<double>>(problem.context, std::move(rows),
                                                                 problem.partition, problem.partition);
    problem.context.device->synchronize(Queue::compute);
    const double all = comm.max(seconds_since(began));
    if (i > 0) seconds.push_back(all);  // the first takes page-locked memory
  }
  tell(comm,
       "{} rows, {} nonzeros on {} x {}\n{:8.3f} ms  rows from host memory to the device, numbers, analysis\n",
       source->rows(), problem.matrix->global_nonzeros(), comm.size(), problem.context.device->name(),
       1e3 * median(seconds));
  return problem;
}

/// Bytes a second, read and written, of a copy of `bytes`.
double copy_rate(Device& device) {
  constexpr std::size_t bytes = std::size_t{256} << 20;
  const auto owner = std::shared_ptr<Device>(&device, [](Device*) {});
  Buffer<char> from(owner, bytes);
  Buffer<char> to(owner, bytes);
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto begin = device.make_event();
    const auto end = device.make_event();
    device.record(*begin, Queue::compute);
    device.copy_within(to.data(), from.data(), bytes, Queue::compute);
    device.record(*end, Queue::compute);
    best = std::min(best, device.seconds_between(*begin, *end));
  }
  return 2.0 * bytes / best;
}

/// What one set-up tells.
struct Stages {
  std::vector<std::string> names;
  std::vector<double> seconds;
  double levels = 0.0;  ///< wall clock
  double cycle = 0.0;
  std::vector<std::string> sizes;  ///< of levels, on one rank
  std::vector<double> bytes;       ///< that are read or written once up to each of them
};

/// The levels on the device and the cycle in float.
std::unique_ptr<Amg<float>> set_up(const Problem& problem, Stages& stages) {
  Device& device = *problem.context.device;
  const Communicator& comm = problem.context.comm;
  std::vector<std::unique_ptr<Event>> events;
  const auto mark = [&](const std::string& name) {
    events.push_back(device.make_event());
    device.record(*events.back(), Queue::compute);
    stages.names.push_back(name);
  };
  device.synchronize(Queue::compute);
  comm.barrier();
  const Clock::time_point began = Clock::now();
  mark("begin");
  DeviceNearNullSpace space = to_device(problem.context, problem.space, problem.matrix->rows());
  mark("0 near-null space");
  DeviceHierarchy hierarchy =
      smoothed_aggregation(problem.context, *problem.matrix, 0.0, std::move(space), {},
                           [&](std::string_view stage, int level) { mark(fmt::format("{} {}", level, stage)); });
  device.synchronize(Queue::compute);
  stages.levels = comm.max(seconds_since(began));
  double bytes = 0.0;
  for (std::size_t level = 0; comm.size() == 1 && level < hierarchy.levels.size(); ++level) {
    const DeviceLevel& made = hierarchy.levels[level];
    const auto size = [](const CsrBuffers<double>& matrix) {
      return matrix.pattern ? static_cast<double>(matrix.pattern->bytes() + 8 * matrix.values.size()) : 0.0;
    };
    bytes += (level > 0 ? 2.0 : 1.0) * size(made.matrix.matrix) + size(made.interpolation.matrix) +
             size(made.restriction.matrix);
    stages.sizes.push_back(fmt::format(
        "level {}: {} rows, {} nonzeros, interpolation {}", level, made.partition.rows(), made.nonzeros,
        made.interpolation.matrix.pattern ? made.interpolation.matrix.pattern->nonzeros : 0));
    stages.bytes.push_back(bytes);
  }
  const Clock::time_point cycle_began = Clock::now();
  auto cycle =
      std::make_unique<Amg<float>>(with_precision<float>(problem.context), std::move(hierarchy), AmgOptions{});
  mark("cycle: float, analysis, inverse");
  device.synchronize(Queue::compute);
  stages.cycle = comm.max(seconds_since(cycle_began));
  for (std::size_t i = 1; i < events.size(); ++i)
    stages.seconds.push_back(comm.max(device.seconds_between(*events[i - 1], *events[i])));
  stages.names.erase(stages.names.begin());
  return cycle;
}

void solve(const Problem& problem, Amg<float>& cycle, const Options& options) {
  const Context<double>& context = problem.context;
  BlockSpace<double> space(context, problem.partition);
  CastOperator preconditioner(context, cycle);
  LobpcgOptions solver;
  solver.pairs = options.pairs;
  solver.tolerance = 1e-6;
  std::vector<double> seconds;
  int iterations = 0;
  for (int i = 0; i < options.repeats; ++i) {
    context.device->synchronize(Queue::compute);
    context.comm.barrier();
    const Clock::time_point began = Clock::now();
    const DenseBlock<float> nested = nested_iteration(cycle, options.pairs, 1);
    DenseBlock<double> start(context.device, nested.rows(), nested.cols());
    if (nested.cols() > 0) with_precision<float>(context).kernels->convert(nested.view(), {}, start.view());
    const auto result = lobpcg_mixed(space, *problem.matrix, &preconditioner, {cycle.finest_matrix(), &cycle},
                                     nullptr, std::move(start), solver);
    seconds.push_back(context.comm.max(seconds_since(began)));
    iterations = result.iterations;
  }
  tell(context.comm, "{} pairs to 1e-6: {} iterations, {:.4f} s; {}\n", options.pairs, iterations, median(seconds),
       cycle.description());
}

void run(const Communicator& comm, const Options& options) {
  const Problem problem = make_problem(comm, options);
  const bench::PeakOfWork peak(*problem.context.device);
  std::vector<Stages> all(static_cast<std::size_t>(options.repeats) + 1);
  std::unique_ptr<Amg<float>> cycle;
  for (std::size_t i = 0; i < all.size(); ++i) {
    cycle.reset();
    cycle = set_up(problem, all[i]);
    if (i > 0) continue;
    const double most = comm.max(peak.bytes());
    const double matrix = comm.max(static_cast<double>(problem.matrix->bytes()));
    tell(comm, "{:8.1f} MB  at most beside the matrix, of {:.1f} MB: {:.2f} times as much\n", 1e-6 * most,
         1e-6 * matrix, most / matrix);
  }
  const double rate = copy_rate(*problem.context.device);
  for (std::size_t level = 0; level < all.front().sizes.size(); ++level)
    fmt::print("{}; floor so far {:.2f} ms\n", all.front().sizes[level], 1e3 * all.front().bytes[level] / rate);
  const auto first = all.begin() + 1;  // the one before warms up
  const auto medians = [&](const auto& of) {
    std::vector<double> values;
    std::transform(first, all.end(), std::back_inserter(values), of);
    return 1e3 * median(values);
  };
  for (std::size_t s = 0; s < first->names.size(); ++s)
    tell(comm, "{:8.3f} ms  {}\n", medians([&](const Stages& stages) { return stages.seconds[s]; }),
         first->names[s]);
  const double levels = medians([](const Stages& stages) { return stages.levels; });
  const double rest = medians([](const Stages& stages) { return stages.cycle; });
  tell(comm,
       "{:8.3f} ms  levels\n{:8.3f} ms  cycle\n{:8.3f} ms  hierarchy on the device (the first time: {:.3f} ms)\n",
       levels, rest, levels + rest, 1e3 * (all.front().levels + all.front().cycle));
  solve(problem, *cycle, options);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bench::CommandLine line{"Set-up of multigrid on the device, stage by stage"};
  line.add("--device", options.device, "auto, host or cuda");
  std::string halo = "auto";
  line.add("--halo", halo, "how rows get from rank to rank").one_of({"auto", "staged", "peer", "nccl"});
  line.add("--grid", options.grid, "points or elements an edge of the cube");
  line.add_flag("--elasticity", options.elasticity,
                "elasticity with rigid-body modes instead of the 7-point Laplacian");
  line.add("--graph", options.graph,
           "2^so many vertices of an R-MAT graph, 8 edges each: its Laplacian and the identity");
  line.add("--repeats", options.repeats, "medians of so many");
  line.add("--pairs", options.pairs, "eigenpairs");
  return bench::run_on_ranks(argc, argv, line, [&](const Communicator& comm) {
    options.halo = halo_way_from_name(halo);
    run(comm, options);
  });
}
