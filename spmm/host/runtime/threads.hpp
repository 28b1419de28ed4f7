#pragma once

#include <cstdint>

namespace block_eigs::host {

/// Threads that one of `node_size` ranks of a node should use: OMP_NUM_THREADS where it is set, else the cores
/// in the affinity mask of the process, at most the CPU quota of its cgroup. Where the mask is that of the process
/// that started this one, ranks are not bound and share its cores: the count is divided by node_size. At least 1.
/// `beside_gpu`: of four cores and more one is left to the driver and the system, which else take turns with a
/// thread that all others wait for, and there are 16 at most: copies to a GPU are no faster with more, and the
/// last one of many comes late.
int default_threads(int node_size, bool beside_gpu = false);

/// Rows that a thread should have at least: threads that wait for each other take about as long as some hundred
/// rows, and a thousand times as long where other processes are on their cores.
inline constexpr std::int64_t rows_a_thread = 1024;

/// Number of threads of every host kernel from now on; `count` >= 1. Call it before kernels run, from the thread
/// that runs them. Starts them: throws RunError where the system grants no more, after which OpenMP would end the
/// process without our saying anything. `least_rows` of a thread are fewer in tests.
void set_threads(int count, std::int64_t least_rows = rows_a_thread);
int threads();
/// What a pass over so many rows is dealt to: one thread, or all where two have enough to do and all a quarter of
/// that. OpenMP ends threads that a smaller team does not need and starts them again for a larger one, which takes
/// time, and may be refused by then.
int threads_for(std::int64_t rows);
/// The team for a loop over so many parts, one a thread: of one thread, or of all.
int team_for(int parts);

/// Consecutive items, begin <= i < end.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Part `part` of `parts` nearly equal ones of 0 .. count - 1. Every kernel deals rows this way, so that a thread
/// meets the pages that it touched first.
constexpr Range part_of(std::int64_t count, int part, int parts) {
  return {count * part / parts, count * (part + 1) / parts};
}

}  // namespace block_eigs::host
