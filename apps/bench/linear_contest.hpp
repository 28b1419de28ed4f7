#pragma once

#include <functional>
#include <string>
#include <vector>

#include "solver/space/block_space.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs::bench {

/// What one solver brings back; its solution is judged by others.
struct LinearRun {
  double seconds = 0.0;          ///< set-up and solve, from the rows in host memory to the solution
  double setup_seconds = 0.0;    ///< of these, spent before the first iteration
  int iterations = 0;            ///< of all right-hand sides, or of the block
  std::vector<double> solution;  ///< own rows, row-major, one column a right-hand side
};

/// A solver with its options, ready to run as often as the contest wants. Collective.
struct LinearContender {
  std::string name;
  std::string options;  ///< as given, for the record
  std::function<LinearRun()> run;
};

/// What one contender did over all runs; seconds are those of the slowest rank.
struct LinearScore {
  std::string name;
  std::string options;
  double median_seconds = 0.0;
  double fastest = 0.0;
  double slowest = 0.0;
  double setup_seconds = 0.0;  ///< median
  int iterations = 0;
  int converged = 0;            ///< right-hand sides with ||f - A x|| <= tolerance ||f||, recomputed
  double worst_residual = 0.0;  ///< the largest of these relative residuals
};

/// Runs the contenders in turn, `repeats` times after one warm-up run each, and judges all by the same code.
/// Collective.
std::vector<LinearScore> hold_contest(BlockSpace<double>& space, LinearOperator<double>& a,
                                      const DenseBlock<double>& f, double tolerance, int repeats,
                                      const std::vector<LinearContender>& contenders);

}  // namespace block_eigs::bench
