// Broken files: each is refused on all ranks, by one message that names the place.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include "io/formats/block_file.hpp"
#include "io/formats/matrix_file.hpp"
#include "tests/support/matrix_files.hpp"

namespace block_eigs {
namespace {

class BadMatrixFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = test::matrix_files_folder();
    if (folder_.empty()) GTEST_SKIP() << test::no_matrix_files;
  }

  std::string read_failure(const std::string& path, const std::string& dataset) {
    return test::refusal(comm_, [&] {
      const auto source = open_matrix_file(comm_, path, dataset);
      source->read(Partition::uniform(source->rows(), comm_.size()));
    });
  }

  /// A copy that other tests, which may run at the same time, do not use.
  std::string copy_of(const std::string& name, const std::string& use) const {
    std::string path = folder_ + "/" + use + "-" + std::to_string(comm_.size()) + "-" + name;
    if (comm_.is_root()) {
      std::filesystem::remove(path);
      std::filesystem::copy_file(folder_ + "/" + name, path);
    }
    comm_.barrier();
    return path;
  }

  const Communicator comm_{MPI_COMM_WORLD};
  std::string folder_;
};

TEST_F(BadMatrixFile, IsRefusedByOneMessageThatNamesThePlace) {
  const auto list = test::read_list(folder_ + "/bad.txt");
  ASSERT_GT(list.size(), 90U);
  for (const auto& cells : list) {
    SCOPED_TRACE(cells[0]);
    ::testing::internal::CaptureStderr();
    const std::string message = read_failure(test::in_folder(folder_, cells[0]), cells[1]);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << "printed by a library";
    if (message.empty()) continue;  // another rank has it
    EXPECT_EQ(message.front(), '/') << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (std::size_t w = 2; w < cells.size(); ++w) test::expect_said(message, cells[w]);
    if (std::getenv("SHOW_MESSAGES") != nullptr) std::printf("%s\n", message.c_str());
  }
}

TEST_F(BadMatrixFile, LockedByAnotherProgramIsSaid) {
  const std::string path = copy_of("anndata.h5", "locked");
  const int descriptor = ::open(path.c_str(), O_RDWR);
  if (comm_.is_root()) {
    EXPECT_EQ(::flock(descriptor, LOCK_EX | LOCK_NB), 0);
  }
  comm_.barrier();
  const std::string message = read_failure(path, "csr32");
  ::close(descriptor);
  test::expect_said(message, "locked by another program");
  comm_.barrier();
  EXPECT_NO_THROW(open_matrix_file(comm_, path, "csr32"));
}

TEST_F(BadMatrixFile, WithoutPermissionIsSaid) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const std::string path = copy_of("one.mtx", "unreadable");
  if (comm_.is_root()) std::filesystem::permissions(path, std::filesystem::perms::none);
  comm_.barrier();
  test::expect_said(read_failure(path, ""), "Permission denied");
}

TEST_F(BadMatrixFile, PathsInMessagesAreAbsolute) {
  const std::string message = read_failure("no/such/../file.mtx", "");
  test::expect_said(message, std::filesystem::current_path().string() + "/no/file.mtx: no such file");
}

}  // namespace
}  // namespace block_eigs
