#include "apps/bench/contest.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>

#include "apps/bench/stream.hpp"

namespace block_eigs::bench {

namespace {

void judge_run(const Judge& judge, const Run& run, double tolerance, Score& score) {
  constexpr double rounding = 1e-6;
  const Judgement judgement = judge(run);
  const std::vector<double>& residuals = judgement.residuals;
  score.iterations = run.iterations;
  score.error = judgement.error;
  score.worst_residual = residuals.empty() ? 0.0 : *std::max_element(residuals.begin(), residuals.end());
  score.converged = static_cast<int>(std::count_if(residuals.begin(), residuals.end(),
                                                   [&](double r) { return r <= tolerance * (1.0 + rounding); }));
}

}  // namespace

void add_options(CommandLine& line, ContestOptions& options, const std::string& known) {
  line.add("--grid", options.grid, "points along an edge");
  line.add("--tolerance", options.tolerance, "relative residual");
  line.add("--max-iterations", options.max_iterations, "for every contender but ours called default");
  line.add("--repeats", options.repeats, "runs that count, after one that does not").positive();
  line.add("--degree", options.degree, "of the Chebyshev preconditioners");
  line.add("--device", options.device, "auto, host or cuda");
  line.add("--halo", options.halo, "auto, staged, peer or nccl");
  line.add("--peer-device", options.peer_device, "of the peers' matrix and vectors: host or cuda")
      .one_of({"host", "cuda"});
  line.add("--contenders", options.contenders, known);
  line.add("--csv", options.csv, "file for the figures");
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

std::vector<Score> hold_contest(const Communicator& comm, const Judge& judge, const ContestOptions& options,
                                const std::vector<Contender>& contenders) {
  std::vector<Score> scores(contenders.size());
  std::vector<std::vector<double>> seconds(contenders.size()), setups(contenders.size()),
      probes(contenders.size());
  for (int repeat = -1; repeat < options.repeats; ++repeat) {
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      comm.barrier();
      const Run run = contenders[c].run();
      if (repeat < 0) {
        judge_run(judge, run, options.tolerance, scores[c]);
        continue;
      }
      seconds[c].push_back(comm.max(run.seconds));
      setups[c].push_back(comm.max(run.setup_seconds));
      probes[c].push_back(comm.max(run.probe_seconds));
    }
  }
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    scores[c].name = contenders[c].name;
    scores[c].options = contenders[c].options;
    scores[c].median_seconds = median(seconds[c]);
    scores[c].fastest = *std::min_element(seconds[c].begin(), seconds[c].end());
    scores[c].slowest = *std::max_element(seconds[c].begin(), seconds[c].end());
    scores[c].setup_seconds = median(setups[c]);
    scores[c].probe_seconds = median(probes[c]);
  }
  return scores;
}

double memory_bandwidth(const Context<double>& context) {
  constexpr double of_an_h200 = 4.3e12;
  if (!context.device->host_addressable()) return of_an_h200;
  context.comm.barrier();
  return context.comm.sum(measure_machine(1).bandwidth());
}

void print_scores(const std::vector<Score>& scores, int wanted, double floor) {
  fmt::print("{:<34}{:>9}{:>9}{:>9}{:>9}{:>7}{:>9}{:>7}{:>12}{:>10}{:>10}\n", "", "median", "min", "max", "set-up",
             "iter", "ms/iter", "floor", "converged", "residual", "error");
  for (const Score& score : scores) {
    const double per_iteration = (score.median_seconds - score.setup_seconds) / std::max(score.iterations, 1);
    const bool ours = score.name.starts_with("block-");
    fmt::print("{:<34}{:>9.3f}{:>9.3f}{:>9.3f}{:>9.3f}{:>7}{:>9.2f}{:>7}{:>12}{:>10.1e}{:>10}  {}{}\n", score.name,
               score.median_seconds, score.fastest, score.slowest, score.setup_seconds, score.iterations,
               1e3 * per_iteration, ours ? fmt::format("{:.2f}", floor / per_iteration) : "",
               fmt::format("{}/{}", score.converged, wanted), score.worst_residual,
               score.error > 0.0 ? fmt::format("{:.1e}", score.error) : "", score.options,
               std::isnan(score.probe_seconds) ? "" : fmt::format("; and a probe, {:.3f} s", score.probe_seconds));
  }
}

void print_ratios(const std::vector<Score>& scores) {
  fmt::print("\nratio of medians (row over column)\n{:<34}", "");
  for (const Score& column : scores) fmt::print("{:>34}", column.name);
  fmt::print("\n");
  for (const Score& row : scores) {
    fmt::print("{:<34}", row.name);
    for (const Score& column : scores) fmt::print("{:>34.2f}", row.median_seconds / column.median_seconds);
    fmt::print("\n");
  }
}

void write_csv(const ContestOptions& options, std::string_view what, int wanted, int ranks, double floor,
               const std::vector<Score>& scores) {
  if (options.csv.empty()) return;
  std::ofstream file(options.csv);
  file << "grid," << what
       << ",tolerance,ranks,contender,options,median_s,min_s,max_s,setup_s,iterations,floor_s_per_iteration,"
          "converged,worst_residual,worst_error\n";
  for (const Score& s : scores) {
    // Options may hold commas.
    file << fmt::format("{},{},{},{},{},\"{}\",{},{},{},{},{},{},{},{},{}\n", options.grid, wanted,
                        options.tolerance, ranks, s.name, s.options, s.median_seconds, s.fastest, s.slowest,
                        s.setup_seconds, s.iterations, floor, s.converged, s.worst_residual, s.error);
  }
}

int run_bench(int argc, char** argv, const char* name, const std::function<void()>& body,
              const std::function<void()>& end) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  try {
    body();
    end();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return 0;
}

}  // namespace block_eigs::bench
