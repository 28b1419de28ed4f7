#pragma once

#include <chrono>
#include <deque>
#include <string>

#include "solver/report.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// Tells on stderr, from rank 0, how far a solver has come: on a terminal a line that is written over, else a line
/// every few seconds. Not collective.
class ProgressLine {
 public:
  /// `what` is counted ("pairs"); a residual at the edge of what is enough is shown as `tolerance`.
  ProgressLine(const Communicator& comm, std::string what, double tolerance);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// Clears the line.
  ~ProgressLine();

  void update(const IterationReport& report);

 private:
  using Clock = std::chrono::steady_clock;
  struct Sample {
    double seconds;
    double log_worst;
    int converged;
  };

  std::string remaining(const IterationReport& report) const;

  bool active_;
  bool terminal_;
  std::string what_;
  double scale_;
  Clock::time_point last_ = Clock::now();
  std::deque<Sample> recent_;
  bool line_open_ = false;
};

}  // namespace block_eigs
