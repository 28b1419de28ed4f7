#pragma once

#include <atomic>
#include <chrono>

namespace block_eigs {

/// Who wants a run to end early.
enum class StopCause : int { none = 0, time_limit, caller, signal_usr1, signal_terminate, signal_interrupt };

/// The wish that a run ends early with the best that it has. One rank may have it; the others come to know of it
/// by one number that travels with sums which they form anyway (BlockSpace::sum), and from there on it is agreed:
/// all ranks see that at the same place, and it stays. One of them lives in the Context, for all phases of a run.
class StopRequest {
 public:
  using Clock = std::chrono::steady_clock;

  /// Of this rank alone; the first cause stays. May be called by a signal handler.
  void request(StopCause cause) noexcept {
    int none = 0;
    wanted_.compare_exchange_strong(none, static_cast<int>(cause));
  }
  /// To end so many seconds after `began`, by the clock of this rank: for rank 0 alone, so that clocks need not
  /// agree.
  void end_after(double seconds, Clock::time_point began = Clock::now()) {
    const std::chrono::duration<double> limit(seconds);
    if (limit < Clock::time_point::max() - began)
      end_ = began + std::chrono::duration_cast<Clock::duration>(limit);
  }

  /// What this rank adds to a sum over all: 0 where it has nothing against going on.
  double vote() noexcept {
    if (Clock::now() >= end_) request(StopCause::time_limit);
    return wanted_.load() == 0 ? 0.0 : 1.0;
  }
  /// Takes the sum of the votes of all ranks.
  void count(double votes) noexcept { agreed_ = agreed_ || votes > 0.0; }
  /// Whether all ranks know of it.
  bool agreed() const noexcept { return agreed_; }
  /// Of this rank; none where another one has it.
  StopCause own_cause() const noexcept { return static_cast<StopCause>(wanted_.load()); }

 private:
  std::atomic<int> wanted_{0};
  static_assert(std::atomic<int>::is_always_lock_free, "signal handlers set it");
  Clock::time_point end_ = Clock::time_point::max();
  bool agreed_ = false;
};

}  // namespace block_eigs
