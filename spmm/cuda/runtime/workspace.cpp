#include "spmm/cuda/runtime/workspace.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <thread>

#include "spmm/cuda/dense/fetch.hpp"
#include "spmm/cuda/runtime/cuda_check.hpp"

namespace block_eigs::cuda {

namespace {

/// Room for `count` numbers and for somewhat more next time.
std::size_t roomy(std::size_t count) { return std::bit_ceil(std::max<std::size_t>(count, 512)); }

}  // namespace

Workspace::Workspace(std::shared_ptr<CudaDevice> device)
    : device_(std::move(device)), results_done_(device_, 1), arrived_(device_, 1) {
  *results_done_.data() = ticket_;
  check(cudaMemsetAsync(arrived_.data(), 0, sizeof(unsigned), device_->stream(Queue::compute)), "clear a counter");
  for (Slot& slot : ring_) slot.sent = device_->make_order_event();
}

/// Slots that were taken later are free no sooner than this one.
void Workspace::wait_for(std::size_t slot) {
  if (!ring_[slot].used) return;
  ring_[slot].used = false;
  for (std::size_t k = 0; k < slots; ++k) {
    const Slot& later = ring_[(slot + k) % slots];
    if (later.marked) return device_->synchronize(*later.sent);
  }
  device_->synchronize(Queue::compute);
}

double* Workspace::stage(std::size_t count) {
  if (count > stage_capacity_) {
    device_->synchronize(Queue::compute);
    const std::size_t capacity = roomy(count);
    staging_ = StagingBuffer<double>(device_, slots * capacity);
    received_ = Buffer<double>(device_, capacity);
    stage_capacity_ = capacity;
  }
  slot_ = (slot_ + 1) % slots;
  wait_for(slot_);
  staged_ = count;
  return staging_.data() + slot_ * stage_capacity_;
}

const double* Workspace::send() {
  const double* staged = staging_.data() + slot_ * stage_capacity_;
  if (staged_ > 0) {
    fetch(device_->stream(Queue::compute), staged, received_.data(), staged_);
    device_->count_to_device(staged_ * sizeof(double));
    Slot& slot = ring_[slot_];
    slot.used = true;
    slot.number = ++sent_;
    slot.marked = sent_ - sent_before_results_ > unmarked;
    if (slot.marked) device_->record(*slot.sent, Queue::compute);
  }
  return received_.data();
}

double* Workspace::partial_sums(std::size_t count) {
  if (count > partial_sums_.size()) {
    device_->synchronize(Queue::compute);
    partial_sums_ = Buffer<double>();  // the old one goes before the new one comes
    partial_sums_ = Buffer<double>(device_, roomy(count));
  }
  return partial_sums_.data();
}

HandOver Workspace::results(std::size_t count) {
  if (count > results_.size()) results_ = StagingBuffer<double>(device_, roomy(count));
  results_expected_ = count;
  return {results_.data(), results_done_.data(), ++ticket_, arrived_.data()};
}

const double* Workspace::wait_for_results(std::uint64_t sent) {
  constexpr int looks = 4096;  // some microseconds
  const std::atomic_ref<std::uint64_t> done(*results_done_.data());
  const auto are_there = [&] { return done.load(std::memory_order_acquire) == ticket_; };
  for (;;) {
    int look = 0;
    while (look < looks && !are_there()) ++look;
    // Nobody announces what takes no kernel, and a GPU that has failed announces nothing.
    if (look < looks || device_->is_idle(Queue::compute)) break;
    std::this_thread::yield();
  }
  // These kernels came after all that was sent by then.
  for (Slot& slot : ring_) {
    if (slot.number <= sent) slot.used = slot.marked = false;
  }
  sent_before_results_ = sent;
  device_->count_to_host(results_expected_ * sizeof(double));
  return results_.data();
}

}  // namespace block_eigs::cuda
