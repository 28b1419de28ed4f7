#include "apps/report/progress.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "apps/report/text.hpp"

namespace block_eigs {

namespace {

constexpr auto terminal_period = std::chrono::milliseconds(100);
constexpr auto log_period = std::chrono::seconds(5);
constexpr std::size_t samples = 24;
/// A line that wraps cannot be written over.
constexpr std::size_t terminal_width = 79;
constexpr double patience_of_estimate = 1e5;  // seconds; what is farther off is not known

/// Asks the environment that the process was born with: MPI_Init of a process without launcher adds to it.
bool started_by_launcher() {
  std::ifstream environment("/proc/self/environ");
  std::string entry;
  while (std::getline(environment, entry, '\0')) {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE=", "PMI_SIZE=", "PMIX_RANK=", "SLURM_STEP_ID="}) {
      if (entry.starts_with(name)) return true;
    }
  }
  return false;
}

/// Whether what is written to `descriptor` (1 or 2) ends up on a terminal, so that a line may be written over.
/// Under mpirun the process writes to the launcher, and what counts is where the launcher writes.
bool shown_on_terminal(int descriptor) {
  if (!started_by_launcher()) return ::isatty(descriptor) == 1;
  const std::string path = "/proc/" + std::to_string(::getppid()) + "/fd/" + std::to_string(descriptor);
  const int launchers = ::open(path.c_str(), O_WRONLY | O_NOCTTY);
  if (launchers < 0) return false;
  const bool terminal = ::isatty(launchers) == 1;
  ::close(launchers);
  return terminal;
}

}  // namespace

ProgressLine::ProgressLine(const Communicator& comm, std::string what, double tolerance)
    : active_(comm.is_root()),
      terminal_(active_ && shown_on_terminal(2)),
      what_(std::move(what)),
      scale_(tolerance > 0.0 ? tolerance : 1.0) {}

ProgressLine::~ProgressLine() {
  if (line_open_) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

void ProgressLine::update(const IterationReport& report) {
  if (!active_) return;
  const double worst = std::clamp(report.worst, 1e-300, 1e300);
  recent_.push_back({report.seconds, std::log(worst), report.converged});
  if (recent_.size() > samples) recent_.pop_front();
  const auto now = Clock::now();
  if (now - last_ < (terminal_ ? Clock::duration(terminal_period) : Clock::duration(log_period))) return;
  last_ = now;
  const std::string text =
      fmt::format("iteration {}: {}/{} {}, worst residual {:.1e}, {}{}", report.iteration, report.converged,
                  report.wanted, what_, report.worst * scale_, duration_text(report.seconds), remaining(report));
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{}", text.substr(0, terminal_width));
  } else {
    fmt::print(stderr, "{}\n", text);
  }
  std::fflush(stderr);
  line_open_ = terminal_;
}

/// From how fast the worst residual falls; where the columns at work are a window on the wanted ones, from how
/// fast these get done.
std::string ProgressLine::remaining(const IterationReport& report) const {
  const Sample& first = recent_.front();
  const Sample& last = recent_.back();
  const double elapsed = last.seconds - first.seconds;
  double seconds = -1.0;
  if (report.wanted - report.converged > report.active_columns) {
    if (report.converged > 0) {
      seconds = report.seconds * (report.wanted - report.converged) / report.converged;
    }
  } else if (last.log_worst < first.log_worst) {
    seconds = std::max(last.log_worst, 0.0) * elapsed / (first.log_worst - last.log_worst);
  }
  if (seconds < 0.0 || seconds > patience_of_estimate) return "";
  return fmt::format(", about {} left", duration_text(seconds));
}

}  // namespace block_eigs
