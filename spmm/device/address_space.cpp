#include "spmm/device/address_space.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <limits>

namespace block_eigs {

namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

std::size_t address_space_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
  return static_cast<std::size_t>(limit.rlim_cur);
}

}  // namespace

std::size_t address_space_left() {
  const std::size_t limit = address_space_limit();
  if (limit == unlimited) return unlimited;
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::size_t taken = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return taken < limit ? limit - taken : 0;
}

bool has_room_for(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  munmap(memory, bytes);
  return true;
}

std::string address_space_remark() {
  const std::size_t limit = address_space_limit();
  if (limit == unlimited) return "";
  return " (address space is limited to " + std::to_string(limit >> 20) + " MiB by ulimit -v)";
}

}  // namespace block_eigs
