#include "spmm/host/threads.hpp"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

namespace block_eigs::host {

namespace {

/// Positive entry of OMP_NUM_THREADS (the first of a list), 0 where there is none.
int threads_from_environment() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  if (text == nullptr) return 0;
  int count = 0;
  const std::string value(text);
  std::from_chars(value.data(), value.data() + value.size(), count);
  return std::max(count, 0);
}

int cores_in_affinity_mask() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) {
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
  return std::max(1, CPU_COUNT(&mask));
}

int cores_online() {
  std::ifstream file("/sys/devices/system/cpu/online");  // "0-3,8-11"
  int count = 0;
  int first = 0;
  while (file >> first) {
    int last = first;
    if (file.peek() == '-') {
      file.get();
      file >> last;
    }
    count += last - first + 1;
    if (file.peek() != ',') break;
    file.get();
  }
  return count;
}

/// CPUs' worth of time that the cgroup may use (version 2, then version 1), infinity where unlimited.
double cgroup_quota() {
  std::string quota;
  double period = 0.0;
  if (std::ifstream file("/sys/fs/cgroup/cpu.max"); file >> quota >> period) {
    if (quota != "max" && period > 0.0) return std::strtod(quota.c_str(), nullptr) / period;
  }
  double microseconds = 0.0;
  std::ifstream quota_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (quota_file >> microseconds && period_file >> period && microseconds > 0.0 && period > 0.0) {
    return microseconds / period;
  }
  return std::numeric_limits<double>::infinity();
}

int& thread_count() {
  static int count = default_threads(1);
  return count;
}

}  // namespace

int default_threads(int node_size) {
  if (const int asked = threads_from_environment(); asked > 0) return asked;
  const int ranks = std::max(node_size, 1);
  const int mask = cores_in_affinity_mask();
  const bool bound = mask < cores_online();
  // A quota holds for all ranks of the node together, whether they are bound or not.
  const double share = std::min(bound ? mask : static_cast<double>(mask) / ranks, cgroup_quota() / ranks);
  return std::max(1, static_cast<int>(std::floor(share + 1e-9)));
}

void set_threads(int count) {
  thread_count() = std::max(count, 1);
  omp_set_num_threads(thread_count());
}

int threads() { return thread_count(); }

}  // namespace block_eigs::host
