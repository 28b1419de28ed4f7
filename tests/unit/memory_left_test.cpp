// What is left of memory, from the files that systems and control groups of either version keep.
#include "spmm/device/memory_left.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

namespace block_eigs {
namespace {

class MemoryLeft : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() / "block_eigs_memory_left";
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  double left() const { return shared_memory_left(root_.string()); }

  std::filesystem::path root_;
};

TEST_F(MemoryLeft, IsUnknownWithoutFiles) { EXPECT_TRUE(std::isinf(left())); }

TEST_F(MemoryLeft, IsWhatTheSystemHasAvailable) {
  write("proc/meminfo", "MemTotal:  64000 kB\nMemFree:  100 kB\nMemAvailable:   5000 kB\n");
  EXPECT_EQ(left(), 5000.0 * 1024.0);
  // A group without a limit changes nothing.
  write("proc/self/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/memory.max", "max\n");
  write("sys/fs/cgroup/job/memory.current", "1000\n");
  EXPECT_EQ(left(), 5000.0 * 1024.0);
}

TEST_F(MemoryLeft, IsThatOfTheTightestGroup) {
  write("proc/meminfo", "MemAvailable:   5000 kB\n");
  write("proc/self/cgroup", "1:name=systemd:/\n0::/batch/job\n");
  write("sys/fs/cgroup/batch/job/memory.max", "2000000\n");
  write("sys/fs/cgroup/batch/job/memory.current", "900000\n");
  // Cached files make room when that is needed.
  write("sys/fs/cgroup/batch/job/memory.stat", "anon 300000\ninactive_file 400000\n");
  EXPECT_EQ(left(), 1500000.0);
  write("sys/fs/cgroup/batch/memory.max", "1000000\n");
  write("sys/fs/cgroup/batch/memory.current", "950000\n");
  EXPECT_EQ(left(), 50000.0);
}

TEST_F(MemoryLeft, OfGroupsOfVersionOne) {
  write("proc/self/cgroup", "5:cpu,cpuacct:/other\n4:memory:/job\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "3000000\n");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1000000\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "1000\n");
  EXPECT_EQ(left(), 2000000.0);
  // A container sees its own group as the root of all.
  write("proc/self/cgroup", "4:memory:/elsewhere/job\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "7000000\n");
  EXPECT_EQ(left(), 7000000.0 - 1000.0);
}

}  // namespace
}  // namespace block_eigs
