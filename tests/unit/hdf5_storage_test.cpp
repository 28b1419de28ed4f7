// Hdf5Storage that cannot be made gives back what it had taken.
#include "io/hdf5/hdf5_storage.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "spmm/error.hpp"

namespace block_eigs {
namespace {

namespace fs = std::filesystem;

/// Files that this process has open.
std::ptrdiff_t open_files() {
  const fs::directory_iterator files("/proc/self/fd");
  return std::distance(begin(files), end(files));
}

/// Names that storages of this project have in shared memory.
std::ptrdiff_t names_in_memory() {
  const fs::directory_iterator files("/dev/shm");
  return std::count_if(begin(files), end(files), [](const fs::directory_entry& file) {
    return file.path().filename().string().starts_with("block_eigs_");
  });
}

std::string path_in(const char* folder) { return std::string(folder) + "/hdf5_storage_test.h5"; }

TEST(Hdf5Storage, ClosesItsFilesWhereTheOneOnTheDiskCannotBeMade) {
  EXPECT_THROW(Hdf5Storage(path_in("/no/such/folder"), "a"), RunError);  // whatever HDF5 opens once
  const auto files = open_files();
  const auto names = names_in_memory();
  for (int i = 0; i < 3; ++i) EXPECT_THROW(Hdf5Storage(path_in("/no/such/folder"), "a"), RunError);
  EXPECT_EQ(open_files(), files);
  EXPECT_EQ(names_in_memory(), names);
}

TEST(Hdf5Storage, ClosesItsFileWhereHdf5CannotOpenIt) {
  const auto files = open_files();
  const auto names = names_in_memory();
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const int free = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(free);
  // Room for one more file, which HDF5 then lacks.
  const rlimit one_more{static_cast<rlim_t>(free) + 1, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &one_more), 0);
  EXPECT_THROW(Hdf5Storage(path_in("/tmp"), "a"), RunError);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(open_files(), files);
  EXPECT_EQ(names_in_memory(), names);
}

}  // namespace
}  // namespace block_eigs
