#include "apps/journey/cores.hpp"

#include <sched.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

namespace block_eigs {

namespace {

/// Cores that a process may run on; 0 where that is not to be known.
int cores_of(pid_t process) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return ::sched_getaffinity(process, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : 0;
}

/// As the launcher counts them; `ranks` where it does not say.
int ranks_on_node(int ranks) {
  const char* text = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  int count = ranks;
  if (text != nullptr) std::from_chars(text, text + std::string_view(text).size(), count);
  return count;
}

}  // namespace

std::string idle_cores(const Communicator& comm) {
  if (std::getenv("OMP_NUM_THREADS") != nullptr || std::getenv("OMPI_COMM_WORLD_RANK") == nullptr) return "";
  const int ranks = ranks_on_node(comm.size());
  const int own = cores_of(0);
  const int all = cores_of(::getppid());
  if (own == 0 || 2 * ranks * own > all) return "";
  return fmt::format(
      "note: {} of {} cores at work: mpirun binds each rank to {}; mpirun --bind-to none{} uses all", ranks * own,
      all, own == 1 ? "one core" : fmt::format("{} cores", own), comm.size() == 1 ? ", or no mpirun," : "");
}

}  // namespace block_eigs
