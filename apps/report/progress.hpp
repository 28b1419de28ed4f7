#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>

#include "solver/report.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// How far a solver has come, in words, and when it will be done at the rate of late.
class ProgressText {
 public:
  /// `what` is counted ("pairs"); `tolerance` is what residuals are brought to, 0 for as far as it goes.
  ProgressText(std::string what, double tolerance) : what_(std::move(what)), tolerance_(tolerance) {}

  void take(const IterationReport& report);
  /// Of the last report, in at most `width` columns: what matters least is left out.
  std::string line(std::size_t width) const;

 private:
  struct Sample {
    double seconds;
    double log_distance;
    int iteration;
    int converged;
  };

  std::string remaining() const;

  std::string what_;
  double tolerance_;
  IterationReport last_;
  std::deque<Sample> recent_;
};

/// Tells on stderr, from rank 0, how far a solver has come: on a terminal a line that is written over, else a line
/// every few seconds. Not collective.
class ProgressLine {
 public:
  /// See ProgressText.
  ProgressLine(const Communicator& comm, const std::string& what, double tolerance);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// Clears the line.
  ~ProgressLine();

  void update(const IterationReport& report);

 private:
  using Clock = std::chrono::steady_clock;

  bool active_;
  std::size_t width_ = 0;  ///< of the terminal; 0 where there is none
  ProgressText text_;
  Clock::time_point last_ = Clock::now();
  bool line_open_ = false;
};

}  // namespace block_eigs
