#pragma once

#include <vector>

namespace block_eigs {

/// One that the system schedules on, and where it is.
struct Cpu {
  int number = 0;
  int package = 0;
  int core = 0;  ///< within the package; those with the same one are threads of one core
};

/// What rank `node_rank` of the `node_size` ranks of a node gets where they share `cpus` evenly: consecutive ones
/// by package, core and number, so that no core is divided but at the borders of shares.
std::vector<int> share_of(std::vector<Cpu> cpus, int node_rank, int node_size);

/// Open MPI binds each of up to two ranks to one core unless it is asked to do otherwise, and so leaves the others
/// idle. Where that has happened to the ranks of this node, and nobody has asked for it or, by OMP_NUM_THREADS,
/// for no more threads than there are cores, the calling thread, and those it starts from now on, run on their
/// share of the cores that the launcher itself may use. Ranks that hold half of these or more are left as they
/// are. Not collective, but all ranks of the node find the same.
void take_share_of_cores(int node_rank, int node_size);

}  // namespace block_eigs
