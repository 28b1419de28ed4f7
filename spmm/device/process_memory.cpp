#include "spmm/device/process_memory.hpp"

#include <fstream>
#include <string>

namespace block_eigs {

namespace {

/// A line "VmHWM:   1234 kB" in bytes.
double status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  std::string word;
  double kibibytes = 0.0;
  while (status >> word) {
    if (word == key && status >> kibibytes) return kibibytes * 1024.0;
  }
  return 0.0;
}

}  // namespace

double resident_bytes() { return status_bytes("VmRSS:"); }

double most_resident_bytes() { return status_bytes("VmHWM:"); }

}  // namespace block_eigs
