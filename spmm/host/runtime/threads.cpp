#include "spmm/host/runtime/threads.hpp"

#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <future>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "spmm/device/address_space.hpp"
#include "spmm/error.hpp"

namespace block_eigs::host {

namespace {

constexpr int most_beside_gpu = 16;

/// Positive entry of OMP_NUM_THREADS (the first of a list), 0 where there is none.
int threads_from_environment() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  if (text == nullptr) return 0;
  int count = 0;
  const std::string value(text);
  std::from_chars(value.data(), value.data() + value.size(), count);
  return std::max(count, 0);
}

struct Affinity {
  int cores = 1;
  bool bound = false;  ///< by the launcher, to cores of its own
};

Affinity affinity() {
  cpu_set_t own;
  CPU_ZERO(&own);
  if (sched_getaffinity(0, sizeof own, &own) != 0) {
    return {std::max(1, static_cast<int>(std::thread::hardware_concurrency())), false};
  }
  // A launcher binds the ranks that it starts, not itself. Comparing with the cores of the machine instead would
  // take the cores of a container for bound.
  cpu_set_t launcher;
  CPU_ZERO(&launcher);
  const bool known = sched_getaffinity(getppid(), sizeof launcher, &launcher) == 0;
  return {std::max(1, CPU_COUNT(&own)), known && CPU_COUNT(&own) < CPU_COUNT(&launcher)};
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

/// OpenMP ends the process where a thread cannot be started; here that is an error like any other. The stacks of
/// these threads are there for those of OpenMP afterwards, and one more, for what OpenMP takes beside them.
void try_threads(int count) {
  std::vector<std::thread> threads;
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  bool all = true;
  try {
    threads.reserve(static_cast<std::size_t>(count) + 1);
    for (int i = 0; i <= count; ++i) threads.emplace_back([ended] { ended.wait(); });
  } catch (const std::exception&) {
    all = false;
  }
  end.set_value();
  for (std::thread& thread : threads) thread.join();
  if (all) return;
  throw RunError(std::to_string(count + 1) + " threads cannot be started" + address_space_remark() +
                 "; OMP_NUM_THREADS=1 needs least");
}

int& thread_count() {
  static int count = default_threads(1);
  return count;
}

std::int64_t& rows_of_a_thread() {
  static std::int64_t rows = rows_a_thread;
  return rows;
}

}  // namespace

int default_threads(int node_size, bool beside_gpu) {
  if (const int asked = threads_from_environment(); asked > 0) return asked;
  const int ranks = std::max(node_size, 1);
  const auto [cores, bound] = affinity();
  // A quota holds for all ranks of the node together, whether they are bound or not.
  const double share = std::min(bound ? cores : static_cast<double>(cores) / ranks, cgroup_quota() / ranks);
  const int all = std::max(1, static_cast<int>(std::floor(share + 1e-9)));
  return beside_gpu && all >= 4 ? std::min(all - 1, most_beside_gpu) : all;
}

void set_threads(int count, std::int64_t least_rows) {
  thread_count() = std::max(count, 1);
  rows_of_a_thread() = least_rows;
  omp_set_num_threads(thread_count());
  static int started = 1;
  if (thread_count() <= started) return;
  try_threads(thread_count() - 1);
  started = thread_count();
#pragma omp parallel num_threads(started)
  {}
}

int threads() { return thread_count(); }

int threads_for(std::int64_t rows) {
  const std::int64_t least = rows_of_a_thread();
  return rows >= 2 * least && rows >= least * threads() / 4 ? threads() : 1;
}

int team_for(int parts) { return parts > 1 ? threads() : 1; }

}  // namespace block_eigs::host
