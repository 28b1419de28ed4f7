#pragma once

namespace block_eigs::host {

/// Threads that one of `node_size` ranks of a node should use: OMP_NUM_THREADS where it is set, else the cores
/// in the affinity mask of the process, at most the CPU quota of its cgroup. Where the mask holds all cores of the
/// node, ranks are not bound and share them: the count is divided by node_size. At least 1.
int default_threads(int node_size);

/// Number of threads of every host kernel from now on; `count` >= 1. Call it before kernels run, from the thread
/// that runs them.
void set_threads(int count);
int threads();

}  // namespace block_eigs::host
