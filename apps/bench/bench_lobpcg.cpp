// bench_lobpcg: our LOBPCG and SLEPc's eigensolvers on the same Laplacian, in turns, judged by the same code.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "apps/bench/contenders.hpp"
#include "apps/bench/contest.hpp"
#include "apps/bench/peers/slepc_eps.hpp"
#include "apps/journey/eigensolve.hpp"
#include "io/generate/generate.hpp"
#include "solver/lobpcg/lobpcg_mixed.hpp"
#include "spmm/error.hpp"

namespace block_eigs::bench {
namespace {

struct Settings {
  ContestOptions contest{48, 1e-6, 2000, 0, 5, ChebyshevOptions{}.degree, "auto", "host", {}, ""};
  int pairs = 16;
  std::string seeds = "1";
};

constexpr std::array own_names{"default",
                               "none",
                               "jacobi",
                               "jacobi-mixed",
                               "jacobi-filtered",
                               "jacobi-filtered-mixed",
                               "jacobi-davidson",
                               "jacobi-davidson-mixed",
                               "none-filtered",
                               "none-davidson",
                               "none-davidson-mixed",
                               "chebyshev",
                               "chebyshev-mixed",
                               "amg",
                               "amg-float",
                               "amg-mixed",
                               "gamg",
                               "gamg-float"};

Settings read_settings(int argc, char** argv) {
  Settings settings;
  CommandLine line("LOBPCG and its peers on the 7-point Laplacian of a cube");
  add_options(
      line, settings.contest,
      "default (what block-eigs does where the config says nothing), none, jacobi, jacobi-filtered, "
      "jacobi-davidson (filters that build a basis; none-filtered, none-davidson likewise), chebyshev, amg, "
      "amg-float, gamg, gamg-float (levels from PETSc), jacobi-mixed, "
      "jacobi-filtered-mixed, jacobi-davidson-mixed, chebyshev-mixed, amg-mixed (begun in float), slepc-lobpcg, "
      "slepc-krylovschur, slepc-gamg, slepc-hypre (BoomerAMG)");
  line.add("--pairs", settings.pairs, "smallest eigenpairs asked for");
  line.add("--block-size", settings.contest.block_size, "columns at work, 0 for the default");
  line.add("--seeds", settings.seeds,
           "of our start vectors: one, or a range such as 1-16, of which every one runs");
  line.parse(argc, argv);
  std::vector<std::string>& contenders = settings.contest.contenders;
  if (contenders.empty() && settings.seeds.find('-') != std::string::npos) contenders = {"jacobi-filtered"};
  if (contenders.empty())
    contenders = {"jacobi", "jacobi-filtered", "chebyshev", "slepc-lobpcg", "slepc-krylovschur"};
  return settings;
}

/// "7" or "1-16": the first and the last.
std::pair<std::uint64_t, std::uint64_t> seed_range(const std::string& text) {
  const std::size_t dash = std::min(text.find('-'), text.size());
  const auto number = [&](std::size_t first, std::size_t last) {
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(text.data() + first, text.data() + last, value);
    require(parsed.ec == std::errc{} && parsed.ptr == text.data() + last,
            fmt::format("--seeds takes a number or a range such as 1-16, not '{}'", text));
    return value;
  };
  const std::uint64_t first = number(0, dash);
  const std::uint64_t last = dash < text.size() ? number(dash + 1, text.size()) : first;
  require(first <= last, fmt::format("--seeds: '{}' is no range", text));
  return {first, last};
}

bool builds_basis(const std::string& name) { return name.find("-davidson") != std::string::npos; }
bool begins_with_filters(const std::string& name) {
  return builds_basis(name) || name.find("-filtered") != std::string::npos;
}

/// The config that one of our contenders stands for.
RunConfig own_config(const Settings& settings, const std::string& name, std::uint64_t seed) {
  const ContestOptions& contest = settings.contest;
  std::string text =
      fmt::format("eigensolver: {{pairs: {}, tolerance: {:e}, seed: {}", settings.pairs, contest.tolerance, seed);
  if (contest.block_size > 0) text += fmt::format(", block_size: {}", contest.block_size);
  if (name != "default") {
    text += fmt::format(", max_iterations: {}, filtered_start: {}, inner_precision: {}, preconditioner: {}",
                        contest.max_iterations, begins_with_filters(name), is_mixed(name) ? "float" : "double",
                        preconditioner_of(name, contest));
  }
  return config_of(contest, text + "}");
}

/// All that block-eigs does of itself: it chooses, and changes its mind. The proof, which peers have none of, has
/// a time of its own.
Run run_default(const Question& question, const RunConfig& config) {
  const Context<double>& context = question.context;
  Problem<double> problem{context, question.partition};
  CsrRows rows = copy_of(question.rows);
  problem.a_rows = copy_of(question.rows);
  context.comm.barrier();
  const Stopwatch clock;
  problem.a = std::make_unique<DistributedMatrix<double>>(context, std::move(rows), question.partition,
                                                          question.partition, config.spmm);
  BlockSpace<double> space(context, question.partition);
  EigenSolver<double> solver = make_solver(space, problem, config, {});
  context.device->synchronize(Queue::compute);
  Run run;
  run.setup_seconds = clock.seconds();
  StartVectors<double> start;
  EigenResult<double> result = eigensolve(space, problem, solver, start, Observer{});
  context.device->synchronize(Queue::compute);
  run.seconds = clock.seconds();
  run.iterations = result.iterations;
  run.eigenvalues = result.eigenvalues;
  run.vectors = result.eigenvectors.to_host();
  const Proof proof = prove_result(space, problem, Sources{}, solver, {}, Observer{}, result);
  if (proof.made == "probe") run.probe_seconds = proof.seconds;
  return run;
}

/// With what the config names; the start vectors of coarse levels are part of the set-up.
Run run_ours(const Question& question, const RunConfig& config, bool basis) {
  const EigensolverConfig& solver = config.eigensolver;
  LobpcgOptions options = solver.options;
  options.filter_basis = basis;  // not a choice of the config
  Prepared prepared =
      prepare(question, config, solver.preconditioner, solver.inner_precision == Precision::float32);
  const Preconditioner<double>& preconditioner = prepared.operators.preconditioner;
  DenseBlock<double> start;
  if (starts_from_coarse_levels(preconditioner, solver))
    start = preconditioner.start_vectors(start_columns(options.pairs, options.block_size), options.seed);
  question.context.device->synchronize(Queue::compute);
  Run run;
  run.setup_seconds = prepared.clock.seconds();
  EigenResult<double> result = lobpcg_mixed(prepared.space, *prepared.problem.a, preconditioner.operation.get(),
                                            prepared.operators.in_float, nullptr, std::move(start), options);
  question.context.device->synchronize(Queue::compute);
  run.seconds = prepared.clock.seconds();
  run.iterations = result.iterations;
  run.eigenvalues = std::move(result.eigenvalues);
  run.vectors = result.eigenvectors.to_host();
  return run;
}

/// Adds the contender of that name: once for SLEPc's, once a seed for ours.
void add_contenders(const std::string& name, const Settings& settings, const Question& question,
                    std::vector<Contender>& contenders) {
  const ContestOptions& contest = settings.contest;
  const auto slepc = [&](const std::string& options) {
    contenders.push_back(slepc_contender(question.context.comm, question.rows, settings.pairs, contest.tolerance,
                                         contest.max_iterations, name, options,
                                         contest.peer_device == "cuda" ? "aijcusparse" : "aij"));
  };
  if (name == "slepc-lobpcg") return slepc("-eps_type lobpcg -st_ksp_type preonly -st_pc_type jacobi");
  if (name == "slepc-gamg") return slepc("-eps_type lobpcg -st_ksp_type preonly -st_pc_type gamg");
  if (name == "slepc-hypre") return slepc("-eps_type lobpcg -st_ksp_type preonly " + boomeramg_options("st_"));
  if (name == "slepc-krylovschur") return slepc("-eps_type krylovschur");
  require(std::find(own_names.begin(), own_names.end(), name) != own_names.end(),
          "unknown contender '" + name + "'");
  const auto [first, last] = seed_range(settings.seeds);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const RunConfig config = own_config(settings, name, seed);
    const std::string options = name.starts_with("chebyshev") ? fmt::format("degree {}", contest.degree) : "";
    contenders.push_back({"block-eigs " + name + (first < last ? fmt::format(" seed {}", seed) : ""),
                          name == "default"
                              ? fmt::format("{}, {} columns", name_of(config.eigensolver.preconditioner.type),
                                            config.eigensolver.options.block_size)
                              : options,
                          [config, &question, name] {
                            return name == "default" ? run_default(question, config)
                                                     : run_ours(question, config, builds_basis(name));
                          }});
  }
}

/// ||A v - lambda v|| / (|lambda| ||v||) of every pair, and how far the eigenvalues are from those of the
/// Laplacian.
Judgement judge(BlockSpace<double>& space, LinearOperator<double>& a, const std::vector<double>& exact,
                const Run& run) {
  constexpr LocalIndex panel = 64;
  const auto pairs = static_cast<LocalIndex>(run.eigenvalues.size());
  DenseBlock<double> vectors = space.make_block(pairs);
  DenseBlock<double> images = space.make_block(std::min(panel, pairs));
  vectors.from_host(run.vectors.data());
  Judgement judgement;
  for (LocalIndex first = 0; first < pairs; first += panel) {
    const LocalIndex count = std::min(panel, pairs - first);
    const BlockView<double> v = vectors.columns(first, count);
    const BlockView<double> av = images.columns(0, count);
    const std::span<const double> lambda(run.eigenvalues.data() + first, static_cast<std::size_t>(count));
    a.apply(v, av);
    const std::vector<double> norms = space.column_norms(v);
    const std::vector<double> residuals = space.residual(av, v, lambda, av);
    for (std::size_t j = 0; j < residuals.size(); ++j)
      judgement.residuals.push_back(residuals[j] / (std::abs(lambda[j]) * norms[j]));
  }
  for (std::size_t j = 0; j < run.eigenvalues.size(); ++j)
    judgement.error = std::max(judgement.error, std::abs(run.eigenvalues[j] - exact[j]) / exact[j]);
  return judgement;
}

/// Seconds that what an iteration with Jacobi moves takes at the memory bandwidth that all ranks have together: A
/// W 2 blocks, the Gram matrix 4, X and P 5, R and its norms 3, W 2, and A twice.
double floor_of_iteration(const Settings& settings, const Question& question, GlobalIndex nonzeros) {
  const auto rows = static_cast<double>(question.partition.rows());
  const int block_size = settings.contest.block_size;
  const int width = block_size > 0 ? block_size : default_block_size(settings.pairs);
  constexpr double blocks = 16.0;
  const double bytes = rows * (blocks * width * 8.0 + 2.0 * 8.0) + 2.0 * 12.0 * static_cast<double>(nonzeros);
  return bytes / memory_bandwidth(question.context);
}

/// How much the seed matters: the scores of one contender for all of them.
void print_seeds(const std::vector<Score>& scores) {
  std::vector<double> seconds, iterations;
  for (const Score& score : scores) {
    seconds.push_back(score.median_seconds);
    iterations.push_back(score.iterations);
  }
  const auto line = [](const char* what, const char* form, const std::vector<double>& values) {
    const double least = *std::min_element(values.begin(), values.end());
    const double most = *std::max_element(values.begin(), values.end());
    const double middle = median(values);
    const double farthest = std::max(most - middle, middle - least) / middle;
    fmt::print("{:<12}min {}, median {}, max {}; farthest from the median: {:.1f}%\n", what,
               fmt::format(fmt::runtime(form), least), fmt::format(fmt::runtime(form), middle),
               fmt::format(fmt::runtime(form), most), 100.0 * farthest);
  };
  fmt::print("\n{} seeds, from {}\n", scores.size(), scores.front().name);
  line("seconds", "{:.3f}", seconds);
  line("iterations", "{:.0f}", iterations);
}

void print(const Settings& settings, const Context<double>& context, double floor,
           const std::vector<Score>& scores) {
  const ContestOptions& contest = settings.contest;
  const int ranks = context.comm.size();
  fmt::print("{}^3 Laplacian (7 points), {} smallest pairs, relative residual {:.0e}, {} rank{}, {}\n",
             contest.grid, settings.pairs, contest.tolerance, ranks, ranks == 1 ? "" : "s",
             context.device->name());
  fmt::print(
      "seconds are set-up + solve, median of {} runs in turns; floor: {:.2f} ms an iteration at full width; "
      "error: of the eigenvalues against the closed form\n\n",
      contest.repeats, 1e3 * floor);
  print_scores(scores, settings.pairs, floor);
  const auto [first, last] = seed_range(settings.seeds);
  if (first == last) return print_ratios(scores);
  const auto count = static_cast<std::size_t>(last - first + 1);
  for (std::size_t at = 0; at < scores.size();) {
    const bool ours = scores[at].name.starts_with("block-");
    if (ours)
      print_seeds({scores.begin() + static_cast<std::ptrdiff_t>(at),
                   scores.begin() + static_cast<std::ptrdiff_t>(at + count)});
    at += ours ? count : 1;
  }
}

void run(const Settings& settings) {
  const Question question = make_question(settings.contest);
  const Communicator& comm = question.context.comm;
  DistributedMatrix<double> a(question.context, question.rows, question.partition, question.partition);
  BlockSpace<double> space(question.context, question.partition);
  std::vector<Contender> contenders;
  for (const std::string& name : settings.contest.contenders) {
    const bool with_hypre = name == "slepc-hypre";
    if (name.starts_with("slepc") && !(with_hypre ? have_slepc_with(comm, "hypre") : have_slepc())) {
      if (comm.is_root()) fmt::print("{}: not in this build{}\n", name, with_hypre ? ", or not in its PETSc" : "");
      continue;
    }
    add_contenders(name, settings, question, contenders);
  }
  const std::vector<double> exact =
      closed_form_laplacian_eigenvalues(config_of(settings.contest, "").matrix.laplacian, settings.pairs);
  const auto scores = hold_contest(
      comm, [&](const Run& run) { return judge(space, a, exact, run); }, settings.contest, contenders);
  const double floor = floor_of_iteration(settings, question, a.global_nonzeros());
  if (!comm.is_root()) return;
  print(settings, question.context, floor, scores);
  write_csv(settings.contest, "pairs", settings.pairs, comm.size(), floor, scores);
}

}  // namespace
}  // namespace block_eigs::bench

int main(int argc, char** argv) {
  using namespace block_eigs::bench;
  return run_bench(
      argc, argv, "bench_lobpcg", [&] { run(read_settings(argc, argv)); }, end_slepc);
}
