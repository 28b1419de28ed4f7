#pragma once

#include <memory>
#include <optional>
#include <string>

#include "spmm/error.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/stop_request.hpp"

// Ends that are not the end: SIGINT, SIGTERM, SIGUSR1 and max_seconds.
namespace block_eigs {

/// A signal came before there was anything to write: thrown by all ranks, with exit code 128 + its number, as a
/// shell has it of a process that a signal ended.
class Interrupted : public Error, public OnAllRanks {
 public:
  explicit Interrupted(int signal);
};

/// What a process knows of its place among the ranks before MPI has started.
struct Place {
  bool is_first = true;       ///< the rank that speaks until there is an EarlyEnd
  bool has_launcher = false;  ///< which sends signals of its own
};

/// Takes SIGINT, SIGTERM and SIGUSR1 from here on, but those that are ignored. Until there is an EarlyEnd they end
/// the process: at once, or after a few seconds where a launcher may have sent them.
void catch_signals(const std::string& program, const Place& place);

/// From here on signals are ignored, but for a second SIGINT: the work is done, or its failure is about to be
/// told.
void nothing_to_end();

/// Whether a signal has come since: a launcher's, where another rank has failed and has said why.
bool ended_by_launcher();

/// The signals of one run, and its time limit. While it is prepared a signal ends it at the next check(), or after
/// a few seconds where none comes: nothing is written. From solving() on signals and the limit are a StopRequest,
/// and end iterations as max_iterations does; a second SIGINT ends the process at once. When it is gone signals
/// are ignored but for that. One in a process.
class EarlyEnd {
 public:
  /// `max_seconds` count from here.
  EarlyEnd(const Communicator& comm, std::optional<double> max_seconds);
  EarlyEnd(const EarlyEnd&) = delete;
  EarlyEnd& operator=(const EarlyEnd&) = delete;
  ~EarlyEnd();

  /// Collective; throws Interrupted where a signal has come to any rank.
  void check() const;
  /// check(), and what is said about solving above. Collective; throws Interrupted.
  void solving(std::shared_ptr<StopRequest> stop);
  /// Whether ranks have agreed to end early. Not collective.
  bool ended() const { return stop_ && stop_->agreed(); }
  /// `remark` of a solver, with what ended the run in place of ended_on_request. Collective.
  std::string with_cause(std::string remark) const;

 private:
  Communicator comm_;
  StopRequest::Clock::time_point began_ = StopRequest::Clock::now();
  std::optional<double> max_seconds_;
  std::shared_ptr<StopRequest> stop_;
};

}  // namespace block_eigs
