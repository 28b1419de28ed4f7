// How surely the probe finds pairs that were removed from a result on purpose, and what it costs beside the run:
// with what block-eigs takes by default, or another preconditioner. Times are those of the processor, of all
// threads.
#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/journey/eigensolve.hpp"
#include "apps/journey/proof.hpp"
#include "apps/journey/proof_probe.hpp"
#include "apps/journey/stages.hpp"
#include "spmm/matrix/dense_block.hpp"

namespace block_eigs {
namespace {

/// Of the solve, and the least of each time counts: other programs only add to them.
constexpr int repetitions = 3;

struct Arguments {
  int size = 48;
  int pairs = 16;
  int seeds = 100;
  std::vector<int> removed = {1, 4, 8, 10};
  std::string eigensolver;
  std::string device = "host";
  bool require = false;
};

/// Of all threads of the process, in seconds.
double processor_time() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

RunConfig config_of(const Arguments& arguments) {
  const std::string more = arguments.eigensolver.empty() ? "" : ", " + arguments.eigensolver;
  return parse_config(fmt::format("matrix: {{generate: laplacian3d, size: [{0}, {0}, {0}]}}\neigensolver: "
                                  "{{pairs: {1}{2}}}\ndevice: {3}\n",
                                  arguments.size, arguments.pairs, more, arguments.device),
                      "removed_pairs", {});
}

/// The 7-point Laplacian of a cube, solved, and the result without one of its pairs.
class Bench {
 public:
  explicit Bench(const Arguments& arguments)
      : arguments_(arguments),
        asked_(config_of(arguments)),
        context_(make_context<double>(Communicator(MPI_COMM_WORLD), asked_.device)),
        sources_(open_sources(context_.comm, asked_)),
        problem_(read_problem(context_, sources_, asked_, asked_.eigensolver.preconditioner,
                              begins_in_float<double>(asked_.eigensolver, false))),
        space_(context_, problem_.partition) {}

  /// Whether all that was removed was found, and nothing else.
  bool run() {
    const CsrRows rows = problem_.a_rows;
    for (int i = 0; i < repetitions; ++i) {
      problem_.a_rows = rows;
      const double began = processor_time();
      solver_ = make_solver(space_, problem_, asked_, {});
      const double made = processor_time();
      StartVectors<double> start;
      whole_ = eigensolve(space_, problem_, solver_, start, {});
      const double ended = processor_time();
      setup_seconds_ = std::min(setup_seconds_, made - began);
      solve_seconds_ = std::min(solve_seconds_, ended - made);
    }
    if (context_.comm.is_root()) {
      fmt::print("{}: {} pairs, {}; set-up {:.2f} s, solve {:.2f} s, {} iterations\n", sources_.a->description(),
                 arguments_.pairs, solver_.choice ? solver_.choice->description() : "", setup_seconds_,
                 solve_seconds_, whole_.iterations);
      fmt::print("{:<16}  {:>12}  {:>10}  {:>9}  {:>9}\n", "removed", "seen", "time", "of solve", "of run");
    }
    report(-1);
    for (const int removed : arguments_.removed) {
      if (removed >= 1 && removed <= arguments_.pairs) report(removed - 1);
    }
    return found_all_;
  }

 private:
  /// The whole result without pair `removed`; with all where that is negative.
  EigenResult<double> without(int removed) {
    const int all = arguments_.pairs;
    const int left = removed < 0 ? all : all - 1;
    EigenResult<double> result;
    result.history = whole_.history;
    result.iterations = whole_.iterations;
    SmallMatrix selection(all, left);
    for (int j = 0; j < all; ++j) {
      if (j == removed) continue;
      const auto at = static_cast<std::size_t>(j);
      selection(j, static_cast<int>(result.eigenvalues.size())) = 1.0;
      result.eigenvalues.push_back(whole_.eigenvalues[at]);
      result.residual_norms.push_back(whole_.residual_norms[at]);
      result.outcomes.push_back(whole_.outcomes[at]);
    }
    result.eigenvectors = space_.make_block(left);
    space_.update({whole_.eigenvectors.view()}, selection, {result.eigenvectors.view()});
    return result;
  }

  void report(int removed) {
    const EigenResult<double> result = without(removed);
    const DenseBlock<double> constraints;
    EigensolverConfig config = solver_.config.eigensolver;
    std::vector<double> seconds, gaps;
    int seen = 0;
    for (int seed = 1; seed <= arguments_.seeds; ++seed) {
      config.options.seed = static_cast<std::uint64_t>(seed);
      const SolveSetting<double> setting{space_, problem_, *solver_.operators, sources_, constraints, config, {}};
      Proof proof;
      const double began = processor_time();
      if (look_by_probe(setting, result, 0, proof).missing > 0) ++seen;
      seconds.push_back(processor_time() - began);
      gaps.push_back(proof.smallest_gap / result.eigenvalues.back());
    }
    found_all_ = found_all_ && seen == (removed < 0 ? 0 : arguments_.seeds);
    if (!context_.comm.is_root()) return;
    const double best = *std::min_element(seconds.begin(), seconds.end());
    const double last = result.eigenvalues.back();
    const std::string what = removed < 0
                                 ? "none"
                                 : fmt::format("{} (gap {:.2f})", removed + 1,
                                               1.0 - whole_.eigenvalues[static_cast<std::size_t>(removed)] / last);
    const auto [least, most] = std::minmax_element(gaps.begin(), gaps.end());
    fmt::print("{:<16}  {:>4} of {:<4}  {:>8.3f} s  {:>8.1f}%  {:>8.1f}%  {}\n", what, seen, arguments_.seeds,
               best, 100.0 * best / solve_seconds_, 100.0 * best / (setup_seconds_ + solve_seconds_ + best),
               removed < 0 ? fmt::format("promised gaps {:.3f} to {:.3f}", *least, *most) : "");
  }

  Arguments arguments_;
  RunConfig asked_;
  Context<double> context_;
  Sources sources_;
  Problem<double> problem_;
  BlockSpace<double> space_;
  EigenSolver<double> solver_{};
  EigenResult<double> whole_;
  bool found_all_ = true;
  double setup_seconds_ = std::numeric_limits<double>::infinity();
  double solve_seconds_ = std::numeric_limits<double>::infinity();
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
    app.add_option("--removed", arguments.removed, "pairs to remove, one at a time, from 1");
    app.add_option("--eigensolver", arguments.eigensolver, "more options, as 'preconditioner: {type: jacobi}'");
    app.add_flag("--require", arguments.require,
                 "exit code 4 unless all are found, and nothing where none is missing");
    app.add_option("--device", arguments.device, "host or cuda");
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& wanted) {
      code = app.exit(wanted);
      MPI_Finalize();
      return code;
    }
    if (!block_eigs::Bench(arguments).run() && arguments.require) code = 4;
  } catch (const std::exception& error) {
    fmt::print(stderr, "removed_pairs: error: {}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Finalize();
  return code;
}
