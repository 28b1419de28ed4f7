// The memory that is predicted beside what solvers take of a device that counts.
#include "apps/report/memory.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "apps/journey/proof.hpp"
#include "apps/journey/proof_probe.hpp"
#include "solver/block_cg/block_cg_mixed.hpp"
#include "solver/lobpcg/lobpcg_mixed.hpp"
#include "solver/proof/probe_memory.hpp"
#include "tests/support/counting_device.hpp"

namespace block_eigs {
namespace {

/// A problem on a counting device, as the programs make it.
template <class T>
struct Bench {
  RunConfig config;
  std::shared_ptr<CountingDevice> device = std::make_shared<CountingDevice>();
  Context<T> context{Communicator(MPI_COMM_WORLD), device, make_kernels<T>(device),
                     std::make_shared<Profile>(device), make_transport(Communicator(MPI_COMM_WORLD), device)};
  Sources sources;
  Problem<T> problem;
  BlockSpace<T> space;
  Operators<T> operators;

  Bench(const std::string& text, const PreconditionerConfig& (*preconditioner)(const RunConfig&),
        bool (*in_float)(const RunConfig&))
      : config(parse_config("matrix: {generate: laplacian3d, size: [24, 24, 24]}\n" + text, "test", {})),
        sources(open_sources(context.comm, config)),
        problem(read_problem(
            context, sources,
            read_options(context, config, preconditioner(config), in_float(config), sources.a->rows()))),
        space(context, problem.partition),
        operators(make_operators(problem, config, preconditioner(config), in_float(config))) {}

  /// Everything that has been built and will be, against the count.
  void expect_close(const MemoryNeeds& needs) const {
    const double predicted = needs.matrix + needs.vectors + needs.halo;
    const auto taken = static_cast<double>(device->peak());
    EXPECT_NEAR(predicted, taken, 0.2 * taken);
  }
};

const PreconditionerConfig& of_eigensolver(const RunConfig& config) { return config.eigensolver.preconditioner; }
const PreconditionerConfig& of_linear_solver(const RunConfig& config) {
  return config.linear_solver.preconditioner;
}

template <class T>
void expect_eigensolver(const std::string& options, const std::string& more = "") {
  SCOPED_TRACE(options);
  Bench<T> bench("eigensolver: {tolerance: 1.0e-4, max_iterations: 150, " + options + "}\n" + more, of_eigensolver,
                 [](const RunConfig& config) {
                   return config.eigensolver.inner_precision == Precision::float32 && sizeof(T) == sizeof(double);
                 });
  const EigensolverConfig& config = bench.config.eigensolver;
  // What the matrices hold is counted, not guessed.
  MemoryNeeds needs = memory_needs(bench.problem, bench.operators, config, StartVectors<T>{});
  EXPECT_NEAR(needs.matrix, static_cast<double>(bench.device->in_use()), 0.02 * needs.matrix);
  DenseBlock<T> start;
  if (starts_from_coarse_levels(bench.operators.preconditioner, config)) {
    start = bench.operators.preconditioner.start_vectors(
        start_columns(config.options.pairs, config.options.block_size), 1);
  }
  LinearOperator<T>* preconditioner = bench.operators.preconditioner.operation.get();
  if constexpr (std::is_same_v<T, double>) {
    lobpcg_mixed(bench.space, *bench.problem.a, preconditioner, bench.operators.in_float, nullptr,
                 std::move(start), config.options);
  } else {
    lobpcg<T>(bench.space, *bench.problem.a, nullptr, preconditioner, nullptr, std::move(start), config.options);
  }
  bench.expect_close(needs);
}

TEST(Memory, OfTheEigensolver) {
  expect_eigensolver<double>("pairs: 16, preconditioner: {type: none}");
  expect_eigensolver<double>("pairs: 16, preconditioner: {type: chebyshev}");
  expect_eigensolver<double>("pairs: 40, block_size: 8, verify: residuals");
  expect_eigensolver<float>("pairs: 16");
}

TEST(Memory, OfMultigrid) {
  expect_eigensolver<double>("pairs: 16, preconditioner: {type: amg, precision: double}");
  expect_eigensolver<double>("pairs: 16, preconditioner: {type: amg}, inner_precision: double");
  expect_eigensolver<double>("pairs: 16, preconditioner: {type: amg}");
  expect_eigensolver<float>("pairs: 16, preconditioner: {type: amg}");
}

TEST(Memory, OfIterationsThatBeginInFloat) {
  expect_eigensolver<double>("pairs: 16, inner_precision: float");
  expect_eigensolver<double>("pairs: 16, inner_precision: float, preconditioner: {type: chebyshev}");
}

/// Pairs of an iteration that is stopped early.
EigenResult<double> stopped(Bench<double>& bench) {
  const Proceed not_for_long = [](const IterationReport& report) { return report.iteration < 5; };
  return lobpcg<double>(bench.space, *bench.problem.a, nullptr, nullptr, nullptr, {},
                        bench.config.eigensolver.options, {}, not_for_long);
}

TEST(Memory, ThatLacksForGuardsCostsNoPairs) {
  Bench<double> bench("eigensolver: {pairs: 8, block_size: 24, filtered_start: false}\n", of_eigensolver,
                      [](const RunConfig&) { return false; });
  stopped(bench);
  bench.device->measure_peak();
  EXPECT_EQ(stopped(bench).guards.cols(), 16);
  bench.device->limit(bench.device->peak() - 1);
  const EigenResult<double> result = stopped(bench);
  EXPECT_EQ(result.eigenvectors.cols(), 8);
  EXPECT_EQ(result.guards.cols(), 0);
}

/// Solves, then counts what a probe makes beside what is there.
void expect_probe(const std::string& options) {
  SCOPED_TRACE(options);
  Bench<double> bench(
      "eigensolver: {pairs: 16, tolerance: 1.0e-6, " + options + "}\n", of_eigensolver,
      [](const RunConfig& config) { return config.eigensolver.inner_precision == Precision::float32; });
  const EigensolverConfig& config = bench.config.eigensolver;
  const MemoryNeeds needs = memory_needs(bench.problem, bench.operators, config, StartVectors<double>{});
  LinearOperator<double>* preconditioner = bench.operators.preconditioner.operation.get();
  EigenResult<double> result = lobpcg_mixed(bench.space, *bench.problem.a, preconditioner,
                                            bench.operators.in_float, nullptr, {}, config.options);
  const std::size_t before = bench.device->in_use();
  bench.device->measure_peak();
  const DenseBlock<double> none;
  const SolveSetting<double> setting{bench.space, bench.problem, bench.operators, bench.sources, none, config, {}};
  const Proof proof = prove(setting, result);
  ASSERT_EQ(proof.made, "probe") << proof.statement;
  const bool in_float =
      probes_in_float(bench.space, probe_operators(setting, result), found_pairs(setting, result));
  const ProbeShape shape{bench.space.local_rows(), 16, 0, false, preconditioner != nullptr, in_float};
  const auto taken = static_cast<double>(bench.device->peak() - before);
  EXPECT_NEAR(static_cast<double>(probe_bytes<double>(shape)), taken, 0.2 * taken);
  EXPECT_LE(static_cast<double>(bench.device->peak()), needs.matrix + needs.vectors + needs.halo);
}

TEST(Memory, OfTheProbe) {
  expect_probe("preconditioner: {type: none}");
  expect_probe("preconditioner: {type: amg}");
  expect_probe("preconditioner: {type: amg, precision: double}");
  expect_probe("preconditioner: {type: chebyshev}");
  expect_probe("preconditioner: {type: chebyshev}, inner_precision: float");
  expect_probe("preconditioner: {type: chebyshev}, block_size: 6");
}

void expect_linear_solver(const std::string& options, int sides) {
  SCOPED_TRACE(options);
  Bench<double> bench(
      "linear_solver: {max_iterations: 60, " + options + "}\n", of_linear_solver,
      [](const RunConfig& config) { return config.linear_solver.inner_precision == Precision::float32; });
  const LinearSolverConfig& config = bench.config.linear_solver;
  DenseBlock<double> f = bench.space.make_block(sides);
  bench.space.fill_random(f.view(), 1);
  const MemoryNeeds needs = memory_needs(bench.problem, bench.operators, config, sides);
  EXPECT_NEAR(needs.matrix + needs.held, static_cast<double>(bench.device->in_use()), 0.02 * needs.matrix);
  const BlockCgOptions solver{config.tolerance, config.max_iterations, config.block_size};
  LinearOperator<double>* preconditioner = bench.operators.preconditioner.operation.get();
  const FloatOperators& in_float = bench.operators.in_float;
  if (in_float.a != nullptr) {
    block_cg_mixed(bench.space, *bench.problem.a, preconditioner, *in_float.a, in_float.preconditioner, f, {},
                   solver);
  } else {
    block_cg<double>(bench.space, *bench.problem.a, preconditioner, f, {}, solver);
  }
  bench.expect_close(needs);
}

TEST(Memory, OfTheLinearSolver) {
  expect_linear_solver("preconditioner: {type: none}", 16);
  expect_linear_solver("preconditioner: {type: chebyshev}", 24);
  expect_linear_solver("preconditioner: {type: amg}, block_size: 8", 24);
  expect_linear_solver("inner_precision: float, preconditioner: {type: jacobi}", 16);
  expect_linear_solver("inner_precision: float, preconditioner: {type: chebyshev}", 24);
}

/// On a GPU the driver's own share is in use before anything is allocated; of small problems it is nearly all.
TEST(Memory, OnAGpuCountsWhatIsInUseAlready) {
  MemoryNeeds needs;
  needs.matrix = 2e6;
  needs.vectors = 11e6;
  needs.held = 1e6;
  needs.result = 1e6;
  const MemoryInUse now{300e6, 350e6, 503e6};
  const MemoryEstimate gpu = estimate_memory(needs, now, false);
  EXPECT_DOUBLE_EQ(gpu.device, 513e6);
  EXPECT_DOUBLE_EQ(gpu.host, 350e6);
  // Products of sparse matrices may take more than the solve.
  const MemoryEstimate set_up = estimate_memory(needs, {300e6, 350e6, 503e6, 700e6}, false);
  EXPECT_DOUBLE_EQ(set_up.device, 700e6);
  EXPECT_DOUBLE_EQ(set_up.device_to_come, gpu.device_to_come);
  const MemoryEstimate host = estimate_memory(needs, {300e6, 305e6, 0.0}, true);
  EXPECT_DOUBLE_EQ(host.device, 0.0);
  EXPECT_NEAR(host.host, 315e6, 1e3);  // libraries 4, vectors 10, holes between them 1
}

/// Says that it is a GPU, and that more of its memory is taken at every look.
class FillingDevice final : public CountingDevice {
 public:
  Backend backend() const override { return Backend::cuda; }
  MemoryInfo memory() const override { return {1000, 1000 - ++looks_}; }

 private:
  mutable std::size_t looks_ = 0;
};

/// A solve of a dozen iterations that begins in float takes most in its last few.
TEST(Memory, IsWatchedThroughAShortSolve) {
  MemoryWatch watch(std::make_shared<FillingDevice>(), {});
  for (int iteration = 0; iteration < 12; ++iteration) {
    watch.sample();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_GE(watch.device_peak(), 6.0);
}

}  // namespace
}  // namespace block_eigs
