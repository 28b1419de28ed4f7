#pragma once

#include "spmm/device/device.hpp"

namespace block_eigs::bench {

/// The most memory that a piece of work had at a time, beyond what was there when it began: of the device by its
/// own count, of the host by the kernel's count of resident pages.
class PeakOfWork {
 public:
  /// Work begins here.
  explicit PeakOfWork(Device& device);
  /// Bytes so far; 0 where nobody counts. On a GPU what was made before counts where it had more memory still.
  double bytes() const;

 private:
  Device& device_;
  double before_;
};

}  // namespace block_eigs::bench
