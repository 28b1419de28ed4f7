// bench_linear: our block CG and PETSc's solvers on the same Laplacian and right-hand sides, in turns, judged by
// the same code.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "apps/bench/contenders.hpp"
#include "apps/bench/contest.hpp"
#include "apps/bench/peers/petsc_ksp.hpp"
#include "solver/block_cg/block_cg_mixed.hpp"
#include "solver/preconditioner/cast_operator.hpp"
#include "spmm/error.hpp"

namespace block_eigs::bench {
namespace {

struct Settings {
  ContestOptions contest{64,
                         1e-8,
                         5000,
                         BlockCgOptions{}.block_size,
                         5,
                         6,
                         "auto",
                         "host",
                         {"jacobi", "chebyshev-float", "petsc-cg", "petsc-matsolve", "petsc-hpddm"},
                         ""};
  int sides = 16;
};

constexpr std::array own_names{
    "none", "jacobi",    "jacobi-mixed", "chebyshev", "chebyshev-mixed", "chebyshev-float",
    "amg",  "amg-float", "gamg",         "gamg-float"};

Settings read_settings(int argc, char** argv) {
  Settings settings;
  CommandLine line("Block CG and its peers on the 7-point Laplacian of a cube, random right-hand sides");
  add_options(line, settings.contest,
              "none, jacobi, jacobi-mixed, "
              "chebyshev, chebyshev-mixed, chebyshev-float, amg, amg-float, gamg, gamg-float (levels from PETSc), "
              "petsc-cg, petsc-matsolve, petsc-gamg, petsc-hypre (BoomerAMG), petsc-hpddm");
  line.add("--sides", settings.sides, "right-hand sides");
  line.add("--block-size", settings.contest.block_size, "right-hand sides that ours solves together");
  line.parse(argc, argv);
  return settings;
}

/// F, which all contenders are given beside the matrix.
struct RightHandSides {
  DenseBlock<double> block;
  std::vector<double> values;  ///< own rows, row-major
};

/// The config that one of our contenders stands for.
RunConfig own_config(const ContestOptions& contest, const std::string& name) {
  std::string text =
      fmt::format("linear_solver: {{tolerance: {:e}, block_size: {}", contest.tolerance, contest.block_size);
  text += fmt::format(", max_iterations: {}, inner_precision: {}, preconditioner: {}", contest.max_iterations,
                      is_mixed(name) ? "float" : "double", preconditioner_of(name, contest));
  return config_of(contest, text + "}");
}

BlockCgResult<double> solve(const Question& question, Prepared& prepared, const DenseBlock<double>& f,
                            const LinearSolverConfig& config) {
  const BlockCgOptions options{config.tolerance, config.max_iterations, config.block_size};
  const Operators<double>& operators = prepared.operators;
  LinearOperator<double>* preconditioner = operators.preconditioner.operation.get();
  LinearOperator<double>& a = *prepared.problem.a;
  if (config.inner_precision == Precision::float32) {
    return block_cg_mixed(prepared.space, a, preconditioner, *operators.in_float.a,
                          operators.in_float.preconditioner, f, {}, options);
  }
  if (operators.in_float.preconditioner == nullptr)
    return block_cg<double>(prepared.space, a, preconditioner, f, {}, options);
  CastOperator lent(question.context, *operators.in_float.preconditioner);
  return block_cg<double>(prepared.space, a, &lent, f, {}, options);
}

/// As block-solve goes about it; `lent` gives the iterations in double a polynomial preconditioner in float.
Run run_ours(const Question& question, const DenseBlock<double>& f, const RunConfig& config, bool lent) {
  const LinearSolverConfig& solver = config.linear_solver;
  Prepared prepared =
      prepare(question, config, solver.preconditioner, lent || solver.inner_precision == Precision::float32);
  Run run;
  run.setup_seconds = prepared.clock.seconds();
  const BlockCgResult<double> result = solve(question, prepared, f, solver);
  question.context.device->synchronize(Queue::compute);
  run.seconds = prepared.clock.seconds();
  run.iterations = result.total_iterations;
  run.vectors = result.solution.to_host();
  return run;
}

/// A contender by its name; without a name where this build does not have it.
Contender contender(const std::string& name, const Settings& settings, const Question& question,
                    const RightHandSides& f) {
  const ContestOptions& contest = settings.contest;
  const auto ksp = [&](KspUse use, const std::string& type, const std::string& options) {
    if (!have_ksp(question.context.comm, type)) return Contender{};
    return ksp_contender(question.context.comm, question.rows, f.values, settings.sides, contest.tolerance,
                         contest.max_iterations, name, use, "-ksp_type " + type + " " + options,
                         contest.peer_device == "cuda" ? "aijcusparse" : "aij");
  };
  const std::string jacobi = "-pc_type jacobi -ksp_norm_type unpreconditioned";
  if (name == "petsc-cg") return ksp(KspUse::one_by_one, "cg", jacobi);
  if (name == "petsc-matsolve") return ksp(KspUse::together, "cg", jacobi);
  if (name == "petsc-gamg") return ksp(KspUse::one_by_one, "cg", "-pc_type gamg -ksp_norm_type unpreconditioned");
  if (name == "petsc-hypre") {
    if (!have_pc(question.context.comm, "hypre")) return Contender{};
    return ksp(KspUse::one_by_one, "cg", boomeramg_options("") + " -ksp_norm_type unpreconditioned");
  }
  if (name == "petsc-hpddm") return ksp(KspUse::together, "hpddm", "-ksp_hpddm_type bcg -pc_type jacobi");
  require(std::find(own_names.begin(), own_names.end(), name) != own_names.end(),
          "unknown contender '" + name + "'");
  const RunConfig config = own_config(contest, name);
  return {"block-solve " + name, name.starts_with("chebyshev") ? fmt::format("degree {}", contest.degree) : "",
          [&question, &f, config, lent = name == "chebyshev-float"] {
            return run_ours(question, f.block, config, lent);
          }};
}

/// ||f - A x|| / ||f|| of every right-hand side.
Judgement judge(BlockSpace<double>& space, LinearOperator<double>& a, const DenseBlock<double>& f,
                const Run& run) {
  DenseBlock<double> x = space.make_block(f.cols());
  DenseBlock<double> ax = space.make_block(f.cols());
  x.from_host(run.vectors.data());
  a.apply(x.view(), ax.view());
  const std::vector<double> ones(static_cast<std::size_t>(f.cols()), 1.0);
  const std::vector<double> norms = space.column_norms(f.view());
  Judgement judgement{space.residual(f.view(), ax.view(), ones, ax.view())};
  for (std::size_t j = 0; j < norms.size(); ++j) judgement.residuals[j] /= norms[j];
  return judgement;
}

/// Seconds that 10 words a row and column, the SpMM's share included, and the matrix take at the memory bandwidth
/// that all ranks have together: the Laplacian's diagonal is constant, so that Jacobi is not applied.
double floor_of_iteration(const Settings& settings, const Question& question, GlobalIndex nonzeros) {
  const auto rows = static_cast<double>(question.partition.rows());
  const int width = std::min(settings.sides, settings.contest.block_size);
  const double bytes = rows * (10.0 * width * 8.0 + 8.0) + 12.0 * static_cast<double>(nonzeros);
  return bytes / memory_bandwidth(question.context);
}

void print(const Settings& settings, const Context<double>& context, double floor,
           const std::vector<Score>& scores) {
  const ContestOptions& contest = settings.contest;
  const int ranks = context.comm.size();
  fmt::print("{}^3 Laplacian (7 points), {} random right-hand sides, relative residual {:.0e}, {} rank{}, {}\n",
             contest.grid, settings.sides, contest.tolerance, ranks, ranks == 1 ? "" : "s",
             context.device->name());
  fmt::print(
      "seconds are set-up + solve, median of {} runs in turns; floor: {:.2f} ms a block iteration with Jacobi\n\n",
      contest.repeats, 1e3 * floor);
  print_scores(scores, settings.sides, floor);
  print_ratios(scores);
}

void run(const Settings& settings) {
  const Question question = make_question(settings.contest);
  const Communicator& comm = question.context.comm;
  BlockSpace<double> space(question.context, question.partition);
  DistributedMatrix<double> a(question.context, question.rows, question.partition, question.partition);
  RightHandSides f{space.make_block(settings.sides), {}};
  space.fill_random(f.block.view(), 1);
  f.values = f.block.to_host();
  std::vector<Contender> contenders;
  for (const std::string& name : settings.contest.contenders) {
    Contender next = contender(name, settings, question, f);
    if (!next.name.empty()) {
      contenders.push_back(std::move(next));
    } else if (comm.is_root()) {
      fmt::print("{}: not in this build, or not in its PETSc\n", name);
    }
  }
  const auto scores = hold_contest(
      comm, [&](const Run& run) { return judge(space, a, f.block, run); }, settings.contest, contenders);
  const double floor = floor_of_iteration(settings, question, a.global_nonzeros());
  if (!comm.is_root()) return;
  print(settings, question.context, floor, scores);
  write_csv(settings.contest, "sides", settings.sides, comm.size(), floor, scores);
}

}  // namespace
}  // namespace block_eigs::bench

int main(int argc, char** argv) {
  using namespace block_eigs::bench;
  return run_bench(
      argc, argv, "bench_linear", [&] { run(read_settings(argc, argv)); }, end_petsc);
}
