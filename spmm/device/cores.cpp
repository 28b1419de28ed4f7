#include "spmm/device/cores.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>
#include <tuple>

namespace block_eigs {

namespace {

/// Of a CPU, as the kernel counts it; 0 where it does not say.
int topology(int cpu, const std::string& entry) {
  int value = 0;
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/" + entry);
  file >> value;
  return file ? value : 0;
}

std::vector<Cpu> cpus_of(const cpu_set_t& set) {
  std::vector<Cpu> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set))
      cpus.push_back({cpu, topology(cpu, "physical_package_id"), topology(cpu, "core_id")});
  }
  return cpus;
}

/// Whether Open MPI has bound this process by its own default.
bool bound_unasked() {
  return std::getenv("OMPI_MCA_orte_bound_at_launch") != nullptr &&
         std::getenv("OMPI_MCA_hwloc_base_binding_policy") == nullptr;
}

/// Whether OMP_NUM_THREADS asks for no more threads than so many cores run side by side.
bool has_as_many_as_asked(int cores) {
  const char* text = std::getenv("OMP_NUM_THREADS");
  const int asked = text != nullptr ? std::atoi(text) : 0;
  return asked > 0 && asked <= cores;
}

}  // namespace

std::vector<int> share_of(std::vector<Cpu> cpus, int node_rank, int node_size) {
  std::sort(cpus.begin(), cpus.end(), [](const Cpu& a, const Cpu& b) {
    return std::tie(a.package, a.core, a.number) < std::tie(b.package, b.core, b.number);
  });
  const auto rank = static_cast<std::size_t>(node_rank);
  const auto ranks = static_cast<std::size_t>(node_size);
  std::vector<int> share;
  for (std::size_t i = cpus.size() * rank / ranks; i < cpus.size() * (rank + 1) / ranks; ++i)
    share.push_back(cpus[i].number);
  return share;
}

void take_share_of_cores(int node_rank, int node_size) {
  if (!bound_unasked()) return;
  cpu_set_t own;
  cpu_set_t launcher;
  CPU_ZERO(&own);
  CPU_ZERO(&launcher);
  if (sched_getaffinity(0, sizeof own, &own) != 0) return;
  if (has_as_many_as_asked(CPU_COUNT(&own))) return;
  if (sched_getaffinity(getppid(), sizeof launcher, &launcher) != 0) return;
  if (2 * node_size * CPU_COUNT(&own) > CPU_COUNT(&launcher)) return;
  cpu_set_t share;
  CPU_ZERO(&share);
  for (const int cpu : share_of(cpus_of(launcher), node_rank, node_size)) CPU_SET(cpu, &share);
  sched_setaffinity(0, sizeof share, &share);  // where that is refused, all stays as it is
}

}  // namespace block_eigs
