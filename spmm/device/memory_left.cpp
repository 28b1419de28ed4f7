#include "spmm/device/memory_left.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

namespace block_eigs {

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();
/// Version 1 writes a number near 2^63 where there is no limit.
constexpr double no_limit = 4e18;

/// The number in a file; infinity where there is none, or the word "max".
double number_in(const std::string& path) {
  double number = 0.0;
  return std::ifstream(path) >> number ? number : unlimited;
}

/// The number after `key` in a file of such lines; 0 where there is none.
double entry_of(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  double number = 0.0;
  while (file >> word) {
    if (word == key && file >> number) return number;
  }
  return 0.0;
}

/// Pages of files count as used there, and are given up where others are wanted.
double left_of(const std::string& folder, const char* limit_file, const char* usage_file,
               const std::string& prefix) {
  const double limit = number_in(folder + limit_file);
  const double usage = number_in(folder + usage_file);
  if (!(limit < no_limit) || !(usage < no_limit)) return unlimited;
  const std::string stat = folder + "memory.stat";
  const double files = entry_of(stat, prefix + "inactive_file") + entry_of(stat, prefix + "active_file");
  return std::max(0.0, limit - (usage - std::min(usage, files)));
}

/// Of the group `path` and all above it, below `mount`.
double left_in_groups(const std::string& mount, std::string path, bool unified) {
  double left = unlimited;
  while (true) {
    const std::string folder = mount + (path == "/" ? "" : path) + "/";
    left = std::min(left, unified ? left_of(folder, "memory.max", "memory.current", "")
                                  : left_of(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"));
    const std::size_t end = path.rfind('/');
    if (end == std::string::npos || path.size() <= 1) return left;
    path.resize(end);
  }
}

}  // namespace

double shared_memory_left(const std::string& root) {
  const double available = 1024.0 * entry_of(root + "/proc/meminfo", "MemAvailable:");
  double left = available > 0.0 ? available : unlimited;
  // Lines "0::/path" of version 2 and "4:memory:/path" of version 1.
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string kinds = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (kinds == ",,") left = std::min(left, left_in_groups(root + "/sys/fs/cgroup", path, true));
    if (kinds.find(",memory,") != std::string::npos)
      left = std::min(left, left_in_groups(root + "/sys/fs/cgroup/memory", path, false));
  }
  return left;
}

}  // namespace block_eigs
