#include "apps/report/progress.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/report/text.hpp"

namespace block_eigs {

namespace {

constexpr auto terminal_period = std::chrono::milliseconds(100);
constexpr auto log_period = std::chrono::seconds(5);
constexpr std::size_t samples = 24;
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

/// Columns of the terminal on which what is written to `descriptor` (1 or 2) ends up, so that a line may be
/// written over; 0 where it does not. Under mpirun the process writes to the launcher, and what counts is where
/// the launcher writes.
std::size_t terminal_width(int descriptor) {
  constexpr std::size_t usual = 80;
  int shown = descriptor;
  if (started_by_launcher()) {
    const std::string path = "/proc/" + std::to_string(::getppid()) + "/fd/" + std::to_string(descriptor);
    shown = ::open(path.c_str(), O_WRONLY | O_NOCTTY);
  }
  std::size_t width = 0;
  if (shown >= 0 && ::isatty(shown) == 1) {
    winsize size{};
    const bool known = ::ioctl(shown, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    width = known ? size.ws_col : usual;
  }
  if (shown >= 0 && shown != descriptor) ::close(shown);
  return width;
}

}  // namespace

void ProgressText::take(const IterationReport& report) {
  last_ = report;
  last_.eigenvalues = last_.residual_norms = {};  // not valid for long
  // Another solve has begun, with a clock and a count of its own.
  if (!recent_.empty() && (report.seconds < recent_.back().seconds || report.iteration < recent_.back().iteration))
    recent_.clear();
  const double distance = std::clamp(report.distance, 1e-300, 1e300);
  recent_.push_back({report.seconds, std::log(distance), report.iteration, report.converged});
  if (recent_.size() > samples) recent_.pop_front();
}

std::string ProgressText::line(std::size_t width) const {
  const std::string limit = last_.last_iteration > 0 ? fmt::format("/{}", last_.last_iteration) : "";
  const auto counts = [&](const std::string& most) {
    return fmt::format("iteration {}{}: {}/{} {}", last_.iteration, most, last_.converged, last_.wanted, what_);
  };
  const std::string begin = counts(limit);
  const std::string residual = tolerance_ > 0.0 ? fmt::format(", residual {:.1e}", last_.distance * tolerance_)
                                                : fmt::format(", residual {:.1e} times its limit", last_.distance);
  const std::string goal = tolerance_ > 0.0 ? fmt::format(" (goal {:.0e})", tolerance_) : "";
  const std::string short_goal = tolerance_ > 0.0 ? fmt::format("/{:.0e}", tolerance_) : "";
  const std::string elapsed = ", " + duration_text(last_.seconds);
  const std::string left = remaining();
  // A residual says nothing without its goal, a shell tells the time.
  const std::string shorter = counts("");
  using Parts = std::vector<std::string_view>;
  for (const Parts& parts : {Parts{begin, residual, goal, elapsed, left}, Parts{begin, residual, goal, left},
                             Parts{begin, residual, short_goal, left}, Parts{shorter, residual, short_goal, left},
                             Parts{begin, residual, goal}, Parts{begin, residual, short_goal}, Parts{begin}}) {
    std::string text = fmt::format("{}", fmt::join(parts, ""));
    if (text.size() <= width) return text;
  }
  return begin.substr(0, width);
}

/// From how fast the worst residual falls; where the columns at work are a window on the wanted ones, from how
/// fast these get done. Where the iterations that are allowed come to an end before, that is said.
std::string ProgressText::remaining() const {
  if (recent_.empty()) return "";
  const Sample& first = recent_.front();
  const Sample& last = recent_.back();
  const double elapsed = last.seconds - first.seconds;
  const int iterations = last.iteration - first.iteration;
  // In float nothing counts as converged, and the columns that are done there are no window's.
  if (!last_.in_float && last_.wanted - last_.converged > last_.active_columns) {
    if (last_.converged == 0) return "";
    const double seconds = last_.seconds * (last_.wanted - last_.converged) / last_.converged;
    return seconds > patience_of_estimate ? "" : fmt::format(", about {} left", duration_text(seconds));
  }
  if (iterations <= 0) return "";
  const double of_one = elapsed / iterations;
  const double rate = (first.log_distance - last.log_distance) / iterations;
  const double needed =
      rate > 0.0 ? std::max(last.log_distance, 0.0) / rate : std::numeric_limits<double>::infinity();
  if (last_.last_iteration > 0 && needed > last_.last_iteration - last_.iteration) {
    // Rates of a few iterations say little of hundreds to come.
    if (recent_.size() < samples) return "";
    const double seconds = of_one * (last_.last_iteration - last_.iteration);
    return fmt::format(", stops short in {}", duration_text(seconds));
  }
  const double seconds = of_one * needed;
  return seconds > patience_of_estimate ? "" : fmt::format(", about {} left", duration_text(seconds));
}

ProgressLine::ProgressLine(const Communicator& comm, const std::string& what, double tolerance)
    : active_(comm.is_root()), width_(active_ ? terminal_width(2) : 0), text_(what, tolerance) {}

ProgressLine::~ProgressLine() {
  if (line_open_) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

void ProgressLine::update(const IterationReport& report) {
  if (!active_) return;
  text_.take(report);
  const auto now = Clock::now();
  if (now - last_ < (width_ > 0 ? Clock::duration(terminal_period) : Clock::duration(log_period))) return;
  last_ = now;
  // A line that wraps cannot be written over.
  if (width_ > 0) {
    fmt::print(stderr, "\r\033[K{}", text_.line(width_ - 1));
  } else {
    constexpr std::size_t any_width = 200;
    fmt::print(stderr, "{}\n", text_.line(any_width));
  }
  std::fflush(stderr);
  line_open_ = width_ > 0;
}

}  // namespace block_eigs
