#pragma once

#include <atomic>
#include <exception>

namespace block_eigs {

/// The first exception of several threads. None may leave an OpenMP region: each thread runs its part through
/// `run`, and the thread that goes on behind the region calls `rethrow`.
class FirstError {
 public:
  template <class Part>
  void run(const Part& part) noexcept {
    try {
      part();
    } catch (...) {
      if (!taken_.test_and_set()) error_ = std::current_exception();
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::atomic_flag taken_;
  std::exception_ptr error_;
};

}  // namespace block_eigs
