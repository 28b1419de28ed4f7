#pragma once

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "apps/bench/command_line.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/context.hpp"

namespace block_eigs::bench {

/// What one solver brings back; its numbers are judged by others.
struct Run {
  double seconds = 0.0;        ///< set-up and solve on this rank, from the rows in host memory to the vectors
  double setup_seconds = 0.0;  ///< of these, spent before the first iteration, where the solver tells
  /// After these, spent on a probe for missed pairs; NaN where none was made.
  double probe_seconds = std::numeric_limits<double>::quiet_NaN();
  int iterations = 0;               ///< of all right-hand sides, or of the block
  std::vector<double> eigenvalues;  ///< none of a linear solver
  std::vector<double> vectors;      ///< eigenvectors or solution: own rows, row-major
};

/// A solver with its options, ready to run as often as the contest wants. Collective.
struct Contender {
  std::string name;
  std::string options;  ///< as given, for the record
  std::function<Run()> run;
};

/// What holds for a Run, computed by the same code for all contenders.
struct Judgement {
  std::vector<double> residuals;  ///< of every pair or right-hand side, relative to what the tolerance is
  double error = 0.0;             ///< the largest relative error of an eigenvalue
};
using Judge = std::function<Judgement(const Run&)>;

/// What one contender did over all runs; seconds are those of the slowest rank.
struct Score {
  std::string name;
  std::string options;
  double median_seconds = 0.0;
  double fastest = 0.0;
  double slowest = 0.0;
  double setup_seconds = 0.0;  ///< median
  double probe_seconds = 0.0;  ///< median, not part of the others; NaN where none was made
  int iterations = 0;
  int converged = 0;            ///< pairs or right-hand sides within the tolerance
  double worst_residual = 0.0;  ///< the largest of the residuals
  double error = 0.0;
};

/// What both contests ask of their users.
struct ContestOptions {
  int grid = 0;
  double tolerance = 0.0;
  int max_iterations = 0;
  int block_size = 0;
  int repeats = 5;
  int degree = 0;
  std::string device = "auto";
  std::string peer_device = "host";
  std::vector<std::string> contenders;
  std::string csv;
  std::string halo = "auto";
};

/// Adds them to a command line; `known` lists the contenders.
void add_options(CommandLine& line, ContestOptions& options, const std::string& known);

/// Runs the contenders in turns, `repeats` times after one warm-up run each, which is judged. Collective.
std::vector<Score> hold_contest(const Communicator& comm, const Judge& judge, const ContestOptions& options,
                                const std::vector<Contender>& contenders);

/// Of a list that is not empty.
double median(std::vector<double> values);

/// Bytes a second that all ranks have together: of the host measured, of a GPU known. Collective.
double memory_bandwidth(const Context<double>& context);

/// The table of the scores out of `wanted` pairs or right-hand sides. `floor` are the seconds that an iteration of
/// ours ("block-...") takes at least.
void print_scores(const std::vector<Score>& scores, int wanted, double floor);
void print_ratios(const std::vector<Score>& scores);

/// One line a score; `what` names the column of `wanted` ("pairs").
void write_csv(const ContestOptions& options, std::string_view what, int wanted, int ranks, double floor,
               const std::vector<Score>& scores);

/// The life of a bench: MPI, `body`, `end`. Errors are printed and abort the job.
int run_bench(int argc, char** argv, const char* name, const std::function<void()>& body,
              const std::function<void()>& end);

}  // namespace block_eigs::bench
