#include "apps/report/terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace block_eigs {

namespace {

/// Asks the environment that the process was born with: MPI_Init of a process without launcher adds to it.
bool started_by_launcher() {
  std::ifstream environment("/proc/self/environ");
  std::string entry;
  while (std::getline(environment, entry, '\0')) {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE=", "PMI_SIZE=", "PMIX_RANK=", "SLURM_STEP_ID="}) {
      if (entry.starts_with(name)) return true;
    }
  }
  return false;
}

}  // namespace

bool shown_on_terminal(int descriptor) {
  if (!started_by_launcher()) return ::isatty(descriptor) == 1;
  const std::string path = "/proc/" + std::to_string(::getppid()) + "/fd/" + std::to_string(descriptor);
  const int launchers = ::open(path.c_str(), O_WRONLY | O_NOCTTY);
  if (launchers < 0) return false;
  const bool terminal = ::isatty(launchers) == 1;
  ::close(launchers);
  return terminal;
}

}  // namespace block_eigs
