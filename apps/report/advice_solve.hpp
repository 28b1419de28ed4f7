#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/config/config.hpp"
#include "apps/report/verification.hpp"
#include "solver/block_cg/block_cg.hpp"

namespace block_eigs {

/// Of A's diagonal, over all ranks.
struct DiagonalSigns {
  bool all_positive = true;
  bool all_negative = false;
};

/// What is known of a run of block-solve that did not solve everything.
struct UnfinishedSolve {
  BlockCgFindings findings;
  /// Per right-hand side, relative to ||f||: 0 where f is zero.
  std::vector<double> residuals;  ///< as they stand in the result
  std::vector<Outcome> outcomes;
  /// Of the slowest right-hand side that is not solved: residuals iteration by iteration, relative to ||f||.
  std::vector<double> course;
  DiagonalSigns signs;
  std::vector<PreconditionerType> tried{};  ///< by `auto`, which was asked for; empty where one was named
  double rows = 0.0;                        ///< of A; 0 where that is not known
};

/// From a result and what was verified of it: norms that the solver's arithmetic could not hold are in the latter
/// alone. Not collective.
template <class T>
UnfinishedSolve unfinished_solve(const BlockCgResult<T>& result, const SolutionCheck& checked);

/// Iterations after which a residual that fell as `course` says comes down to `tolerance`, by the rate of the
/// later half; 0 where that cannot be told: too few iterations, no progress, or no tolerance.
double estimated_iterations(std::span<const double> course, double tolerance);

/// An estimate for people: two digits, upwards, of a number from 1.
double rounded_up(double value);

/// What was limiting and what to try next.
struct Advice {
  std::string reason;    ///< what is known beside the solver's remark; may be empty
  std::string change;    ///< "linear_solver.max_iterations=400"; empty where no option of ours helps
  std::string other;     ///< where `change` is empty
  bool goes_on = false;  ///< `change` takes up what this run has written, instead of being a try
};

/// What takes up the result of a run that was ended from outside: `dataset` of `file`, empty where there is none,
/// as `key`.
Advice go_on_from_result(const std::string& file, const std::string& key, const std::string& dataset);

/// `config` names the preconditioner that was worked with at the end, where `auto` was asked for too.
Advice advise(const UnfinishedSolve& run, const RunConfig& config);

/// "reason; try: block-solve run.yaml ... change": the overrides of the run itself without those that `change`
/// replaces, quoted for a shell where they need it.
std::string advice_text(const Advice& advice, const std::string& program, const std::string& config_file,
                        std::span<const std::string> overrides);

}  // namespace block_eigs
