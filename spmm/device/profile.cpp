#include "spmm/device/profile.hpp"

#include <exception>

namespace block_eigs {

const char* name_of(Phase phase) {
  switch (phase) {
    case Phase::spmm:
      return "SpMM";
    case Phase::halo_wait:
      return "halo wait";
    case Phase::block_algebra:
      return "block algebra";
    case Phase::small_dense:
      return "small dense";
    case Phase::preconditioner:
      return "preconditioner";
    case Phase::communication:
      return "reductions";
    case Phase::io:
      return "I/O";
    case Phase::count:
      break;
  }
  return "";
}

double Profile::seconds(Phase phase) {
  collect(marks_.size());
  return seconds_[static_cast<std::size_t>(phase)];
}

void Profile::start(double reading) {
  started_ = true;
  counting_ = true;
  turn(stack_.empty() ? Phase::count : stack_.back());
  collect(marks_.size());
  seconds_.fill(0.0);
  seconds_[static_cast<std::size_t>(Phase::io)] = reading;
}

void Profile::enter(Phase phase) {
  stack_.push_back(phase);
  turn(phase);
}

void Profile::leave() noexcept {
  stack_.pop_back();
  try {
    turn(stack_.empty() ? Phase::count : stack_.back());
  } catch (const std::exception&) {
    counting_ = false;
    if (!marks_.empty()) marks_.pop_back();  // it may not have been recorded
  }
}

void Profile::turn(Phase next) {
  if (!counting_) return;
  if (device_->host_addressable()) {
    const auto now = Clock::now();
    if (running_ != Phase::count) {
      seconds_[static_cast<std::size_t>(running_)] += std::chrono::duration<double>(now - running_since_).count();
    }
    running_since_ = now;
    running_ = next;
    return;
  }
  if (spare_.empty()) {
    // A bounded number of events is alive. The older half is read: it waits only for work that is long done.
    constexpr std::size_t most = 4096;
    if (marks_.size() >= most) collect(most / 2);
    if (spare_.empty()) spare_.push_back(device_->make_event());
  }
  marks_.push_back({next, std::move(spare_.back())});
  spare_.pop_back();
  device_->record(*marks_.back().event, Queue::compute);
}

void Profile::collect(std::size_t marks) {
  if (marks < 2) return;
  for (std::size_t i = 0; i + 1 < marks; ++i) {
    if (marks_[i].phase != Phase::count) {
      seconds_[static_cast<std::size_t>(marks_[i].phase)] +=
          device_->seconds_between(*marks_[i].event, *marks_[i + 1].event);
    }
    spare_.push_back(std::move(marks_[i].event));
  }
  // The last of them is where the next stretch began.
  marks_.erase(marks_.begin(), marks_.begin() + static_cast<std::ptrdiff_t>(marks) - 1);
}

}  // namespace block_eigs
