#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "spmm/device/device.hpp"

namespace block_eigs {

/// Where the time of a run goes.
enum class Phase { spmm, halo_wait, block_algebra, small_dense, preconditioner, communication, io, count };

const char* name_of(Phase phase);

/// Adds up seconds per phase on this rank. On a device the time of a phase is that of its work in the
/// compute queue, taken from events that are read when `collect` is called, so that measuring does not
/// stop the queue. Scopes may nest: the inner phase's time is taken out of the outer one. Until somebody who will
/// read the times calls `start`, scopes cost nothing and record no events.
class Profile {
 public:
  explicit Profile(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  class Scope {
   public:
    Scope(Profile& profile, Phase phase) : profile_(profile) { profile_.enter(phase); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { profile_.leave(); }

   private:
    Profile& profile_;
  };

  /// Counts from zero from now on, but for the seconds that reading has taken before there was a device.
  void start(double reading = 0.0);
  /// Whether anybody has called `start`.
  bool is_started() const { return started_; }
  /// Seconds since `start`, outermost scopes closed; 0 before.
  double seconds(Phase phase);

 private:
  using Clock = std::chrono::steady_clock;
  struct Mark {
    Phase phase;
    std::unique_ptr<Event> event;
  };

  void enter(Phase phase);
  /// On a device that has failed, counting ends: whoever waits for the device learns why.
  void leave() noexcept;
  /// Closes the running stretch on behalf of its phase and starts one for `next`.
  void turn(Phase next);
  /// Adds up the stretches between the first `marks` marks, which waits for them.
  void collect(std::size_t marks);

  std::shared_ptr<Device> device_;
  bool started_ = false;
  bool counting_ = false;  ///< not any more where the device has failed
  std::array<double, static_cast<std::size_t>(Phase::count)> seconds_{};
  std::vector<Phase> stack_;
  Clock::time_point running_since_{};
  Phase running_ = Phase::count;
  std::vector<Mark> marks_;
  std::vector<std::unique_ptr<Event>> spare_;
};

}  // namespace block_eigs
