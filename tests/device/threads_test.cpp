#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "spmm/device/cores.hpp"
#include "spmm/host/runtime/host_backend.hpp"
#include "spmm/host/runtime/threads.hpp"

namespace block_eigs::test {
namespace {

/// Sets or unsets OMP_NUM_THREADS for one scope.
class ThreadsInEnvironment {
 public:
  explicit ThreadsInEnvironment(const char* value) {
    if (const char* old = std::getenv(name)) old_ = old;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  ThreadsInEnvironment(const ThreadsInEnvironment&) = delete;
  ThreadsInEnvironment& operator=(const ThreadsInEnvironment&) = delete;
  ~ThreadsInEnvironment() { old_.empty() ? unsetenv(name) : setenv(name, old_.c_str(), 1); }

 private:
  static constexpr const char* name = "OMP_NUM_THREADS";
  std::string old_;
};

TEST(Threads, TheEnvironmentDecides) {
  for (const char* value : {"3", "3,2"}) {
    const ThreadsInEnvironment environment(value);
    EXPECT_EQ(host::default_threads(1), 3);
    EXPECT_EQ(host::default_threads(8), 3);
    EXPECT_EQ(host::default_threads(1, true), 3);
  }
}

// Two packages of two cores with two threads each, numbered as Linux does it: all first threads come first.
TEST(Threads, SharesOfCoresStayTogether) {
  std::vector<Cpu> cpus;
  for (int cpu = 0; cpu < 8; ++cpu) cpus.push_back({cpu, cpu % 4 / 2, cpu % 2});
  EXPECT_EQ(share_of(cpus, 0, 1), (std::vector{0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_EQ(share_of(cpus, 0, 2), (std::vector{0, 4, 1, 5}));
  EXPECT_EQ(share_of(cpus, 1, 2), (std::vector{2, 6, 3, 7}));
  EXPECT_EQ(share_of(cpus, 3, 4), (std::vector{3, 7}));
  std::size_t all = 0;
  for (int rank = 0; rank < 3; ++rank) all += share_of(cpus, rank, 3).size();
  EXPECT_EQ(all, 8U);
}

/// CPUs of a process that Open MPI has bound to one, after it has taken its share; OMP_NUM_THREADS as given.
int cpus_of_a_bound_rank(const char* threads) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("OMPI_MCA_orte_bound_at_launch", "1", 1);
    unsetenv("OMPI_MCA_hwloc_base_binding_policy");
    threads == nullptr ? unsetenv("OMP_NUM_THREADS") : setenv("OMP_NUM_THREADS", threads, 1);
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    for (int cpu = 0; CPU_COUNT(&cpus) > 1; ++cpu) CPU_CLR(cpu, &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
    take_share_of_cores(0, 1);
    sched_getaffinity(0, sizeof cpus, &cpus);
    _exit(std::min(CPU_COUNT(&cpus), 255));
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Threads, ARankBoundUnaskedTakesItsShareUnlessItsThreadsHaveCores) {
  cpu_set_t cpus;
  ASSERT_EQ(sched_getaffinity(0, sizeof cpus, &cpus), 0);
  const int all = std::min(CPU_COUNT(&cpus), 255);
  EXPECT_EQ(cpus_of_a_bound_rank(nullptr), all);
  EXPECT_EQ(cpus_of_a_bound_rank("1"), 1);
  EXPECT_EQ(cpus_of_a_bound_rank("2"), all) << "two threads would take turns on one core";
  EXPECT_EQ(cpus_of_a_bound_rank("16,2"), all);
}

TEST(Threads, UnboundRanksShareTheCores) {
  for (const char* value : {static_cast<const char*>(nullptr), "", "many", "-1", "0"}) {
    const ThreadsInEnvironment environment(value);
    const int alone = host::default_threads(1);
    EXPECT_GE(alone, 1);
    EXPECT_LE(host::default_threads(2), alone);
    EXPECT_EQ(host::default_threads(1, true), alone >= 4 ? std::min(alone - 1, 16) : alone);
    EXPECT_EQ(host::default_threads(1000000), 1);
  }
}

TEST(Threads, ABoundRankTakesItsOwnCores) {
  const ThreadsInEnvironment environment(nullptr);
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &one);
      break;
    }
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(host::default_threads(1), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(Threads, AreNamedByTheDevice) {
  const int before = host::threads();
  host::set_threads(1);
  EXPECT_EQ(host::make_device()->name(), "host, 1 thread");
  host::set_threads(3);
  EXPECT_EQ(host::threads(), 3);
  EXPECT_EQ(host::make_device()->name(), "host, 3 threads");
  host::set_threads(before);
}

TEST(Threads, FewRowsAreLeftToFewOfThem) {
  const int before = host::threads();
  host::set_threads(3);
  EXPECT_EQ(host::threads_for(0), 1);
  EXPECT_EQ(host::threads_for(host::rows_a_thread), 1);
  EXPECT_EQ(host::threads_for(2 * host::rows_a_thread), 3);
  EXPECT_EQ(host::threads_for(std::int64_t{1} << 40), 3);
  host::set_threads(3, 1);
  EXPECT_EQ(host::threads_for(1), 1);
  EXPECT_EQ(host::threads_for(300), 3);
  // Teams of any other size would end threads and start them again, which ends the process where memory is short.
  for (const int count : {5, 16}) {
    host::set_threads(count);
    for (std::int64_t rows = 0; rows < 40 * host::rows_a_thread; rows += 100) {
      const int dealt = host::threads_for(rows);
      EXPECT_TRUE(dealt == 1 || dealt == count) << rows;
    }
    EXPECT_EQ(host::threads_for(host::rows_a_thread * count), count);
    EXPECT_EQ(host::team_for(1), 1);
    EXPECT_EQ(host::team_for(2), count);
  }
  host::set_threads(before);
}

}  // namespace
}  // namespace block_eigs::test
