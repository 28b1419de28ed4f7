#include "apps/bench/setup_memory.hpp"

#include <malloc.h>

#include <algorithm>
#include <fstream>

#include "spmm/device/process_memory.hpp"

namespace block_eigs::bench {

PeakOfWork::PeakOfWork(Device& device) : device_(device) {
  device.synchronize(Queue::compute);
  if (device.host_addressable()) {
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins anew
    before_ = resident_bytes();
    return;
  }
  const MemoryInfo info = device.memory();
  before_ = static_cast<double>(info.total - info.free);
}

double PeakOfWork::bytes() const {
  device_.synchronize(Queue::compute);
  if (device_.host_addressable()) return std::max(0.0, most_resident_bytes() - before_);
  const MemoryInfo info = device_.memory();
  if (info.least_free == 0) return 0.0;
  return std::max(0.0, static_cast<double>(info.total - info.least_free) - before_);
}

}  // namespace block_eigs::bench
