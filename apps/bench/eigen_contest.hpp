#pragma once

#include <functional>
#include <string>
#include <vector>

#include "solver/space/block_space.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs::bench {

/// What one solver brings back; its eigenvalues and vectors are judged by others.
struct EigenRun {
  double seconds = 0.0;  ///< set-up and solve, from the rows in host memory to the vectors; the slowest rank's
  double setup_seconds = 0.0;  ///< of these, spent before the iteration where the solver tells
  int iterations = 0;
  std::vector<double> eigenvalues;
  std::vector<double> vectors;  ///< own rows, row-major, one column an eigenvalue
};

/// A solver with its options, ready to run as often as the contest wants. Collective.
struct EigenContender {
  std::string name;
  std::string options;  ///< as given, for the record
  std::function<EigenRun()> run;
};

/// What one contender did over all runs.
struct EigenScore {
  std::string name;
  std::string options;
  double median_seconds = 0.0;
  double fastest = 0.0;
  double slowest = 0.0;
  double setup_seconds = 0.0;
  int iterations = 0;
  int converged = 0;            ///< pairs with ||A v - lambda v|| <= tolerance |lambda| ||v||, recomputed
  double worst_residual = 0.0;  ///< the largest of these relative residuals
};

/// Runs the contenders in turn, `repeats` times after one warm-up run each, and judges all by the same code.
/// Collective.
std::vector<EigenScore> hold_contest(BlockSpace<double>& space, LinearOperator<double>& a, double tolerance,
                                     int repeats, const std::vector<EigenContender>& contenders);

}  // namespace block_eigs::bench
