#pragma once

#include <chrono>
#include <limits>

namespace block_eigs {

/// What solvers say of a run whose budget was ended from outside, before it is known by what.
inline constexpr const char* ended_on_request = "ended on request";

/// What a solver may still use up. One of them, and the clock in it, goes by reference through all phases of a
/// solve, however many solvers take part: none of them subtracts what others have used.
class Budget {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Budget(int iterations, Clock::time_point began = Clock::now()) : limit_(iterations), began_(began) {}

  int limit() const { return limit_; }
  int spent() const { return spent_; }
  int left() const { return ended_ ? 0 : limit_ - spent_; }
  bool exhausted() const { return left() <= 0; }
  /// Nothing more is to be spent, however much is left.
  void end() { ended_ = true; }
  bool ended() const { return ended_; }
  void spend(int iterations = 1) { spent_ += iterations; }
  /// Of what was spent, what shall not count.
  void refund(int iterations) { spent_ -= iterations; }
  /// Since the solve began, on this rank; for reports, not for decisions that ranks must take alike.
  double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

 private:
  int limit_;
  int spent_ = 0;
  bool ended_ = false;
  Clock::time_point began_;
};

}  // namespace block_eigs
