// How surely the probe finds pairs that were removed from a result on purpose, and what it costs beside the solve.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "io/generate/generate.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/multigrid/amg.hpp"
#include "solver/multigrid/nested_iteration.hpp"
#include "solver/multigrid/smoothed_aggregation.hpp"
#include "solver/proof/effort.hpp"
#include "solver/proof/probe.hpp"
#include "spmm/matrix/distributed_matrix.hpp"

namespace block_eigs {
namespace {

struct Arguments {
  std::int64_t size = 48;
  int pairs = 16;
  int seeds = 100;
  bool amg = false;
  std::string device = "host";
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The 7-point Laplacian of a cube, solved, and the result without one of its pairs.
class Bench {
 public:
  explicit Bench(const Arguments& arguments)
      : arguments_(arguments),
        context_(make_context<double>(Communicator(MPI_COMM_WORLD),
                                      arguments.device == "cuda" ? Backend::cuda : Backend::host)),
        source_(laplacian3d(context_.comm, {.size = {arguments.size, arguments.size, arguments.size}})),
        partition_(Partition::uniform(source_->rows(), context_.comm.size())),
        a_(context_, source_->read(partition_), partition_, partition_),
        space_(context_, partition_) {
    if (arguments.amg) {
      amg_ = std::make_unique<Amg<double>>(
          context_, smoothed_aggregation(context_.comm, source_->read(partition_), partition_, {}), AmgOptions{});
    }
  }

  void solve() {
    LobpcgOptions options;
    options.pairs = arguments_.pairs;
    options.filtered_start = amg_ == nullptr;
    const double began = seconds_now();
    DenseBlock<double> initial;
    if (amg_) initial = nested_iteration(*amg_, start_columns(options.pairs, options.block_size), options.seed);
    result_ = lobpcg<double>(space_, a_, nullptr, amg_.get(), nullptr, std::move(initial), options);
    solve_seconds_ = seconds_now() - began;
    degree_ = probe_degree(result_.history, amg_ != nullptr, probe_columns<double>(), probe_share);
  }

  /// `removed` less than 0: none.
  void report(int removed) {
    const int all = arguments_.pairs;
    const int left = removed < 0 ? all : all - 1;
    SmallMatrix selection(all, left);
    std::vector<double> values, norms;
    for (int j = 0; j < all; ++j) {
      if (j == removed) continue;
      selection(j, static_cast<int>(values.size())) = 1.0;
      values.push_back(result_.eigenvalues[static_cast<std::size_t>(j)]);
      norms.push_back(result_.residual_norms[static_cast<std::size_t>(j)]);
    }
    DenseBlock<double> vectors = space_.make_block(left);
    space_.update({result_.eigenvectors.view()}, selection, {vectors.view()});
    const FoundPairs<double> found{Which::smallest, values, norms, vectors.view(), {}};
    const ProbeOperators<double> operators{a_, nullptr, amg_.get()};
    std::vector<double> seconds;
    double gap = 0.0;
    int seen = 0;
    for (int seed = 1; seed <= arguments_.seeds; ++seed) {
      const double began = seconds_now();
      const ProbeResult<double> probed =
          probe(space_, operators, found, {.degree = degree_, .seed = static_cast<std::uint64_t>(1000 + seed)});
      seconds.push_back(seconds_now() - began);
      if (probed.missed.cols() > 0) ++seen;
      gap = std::max(gap, probed.smallest_gap / values.back());
    }
    std::sort(seconds.begin(), seconds.end());
    if (!context_.comm.is_root()) return;
    const double median = seconds[seconds.size() / 2];
    const std::string what =
        removed < 0 ? "none"
                    : fmt::format("{} (gap {:.2f})", removed + 1,
                                  1.0 - result_.eigenvalues[static_cast<std::size_t>(removed)] / values.back());
    fmt::print("{:<16}  {:>4} of {:<4}  {:>8.3f} s  {:>5.1f}%  {}\n", what, seen, arguments_.seeds, median,
               100.0 * median / solve_seconds_, removed < 0 ? fmt::format("{:.2f} promised", gap) : "");
  }

  void run() {
    solve();
    if (context_.comm.is_root()) {
      fmt::print("{}: {} pairs in {:.3f} s, {} iterations; probes of degree {}\n{:<16}  {:>12}  {:>10}  {:>6}\n",
                 source_->description(), arguments_.pairs, solve_seconds_, result_.iterations, degree_, "removed",
                 "seen", "median", "cost");
    }
    for (const int removed : {-1, 0, 3, 7, 9}) {
      if (removed < arguments_.pairs) report(removed);
    }
  }

 private:
  Arguments arguments_;
  Context<double> context_;
  std::unique_ptr<MatrixSource> source_;
  Partition partition_;
  DistributedMatrix<double> a_;
  BlockSpace<double> space_;
  std::unique_ptr<Amg<double>> amg_;
  EigenResult<double> result_;
  double solve_seconds_ = 0.0;
  int degree_ = 0;
};

}  // namespace
}  // namespace block_eigs

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  try {
    block_eigs::Arguments arguments;
    CLI::App app("How surely the probe finds pairs that were removed, on the 7-point Laplacian of a cube");
    app.add_option("--size", arguments.size, "points a side");
    app.add_option("--pairs", arguments.pairs, "pairs that are solved for");
    app.add_option("--seeds", arguments.seeds, "probes a pair");
    app.add_flag("--amg", arguments.amg, "with algebraic multigrid");
    app.add_option("--device", arguments.device, "host or cuda");
    app.parse(argc, argv);
    block_eigs::Bench(arguments).run();
  } catch (const CLI::ParseError& error) {
    code = error.get_exit_code();
    fmt::print(stderr, "{}\n", error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_probe: error: {}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Finalize();
  return code;
}
