// write_matrix: what it writes is read back here, and by h5py in check_written_matrix.py.
#include "io/formats/write_matrix.hpp"

#include <gtest/gtest.h>

#include "io/formats/matrix_file.hpp"
#include "tests/support/matrix_files.hpp"

namespace block_eigs {
namespace {

TEST(WriteMatrix, WritesWhatItRead) {
  const std::string folder = test::matrix_files_folder();
  if (folder.empty()) GTEST_SKIP() << test::no_matrix_files;
  const Communicator comm(MPI_COMM_WORLD);
  int written = 0;
  for (const test::Expected& expected : test::expected_matrices()) {
    for (const char* name : {"general.mtx", "large.mtx", "no_entries.mtx"}) {
      if (expected.path != folder + "/" + name) continue;
      SCOPED_TRACE(name);
      const Partition partition = Partition::uniform(expected.rows, comm.size());
      const CsrRows rows = open_matrix_file(comm, expected.path)->read(partition);
      const std::string path = folder + "/written-" + std::to_string(comm.size()) + "-" + name + ".h5";
      write_matrix(comm, path, "/deep/A", rows);
      test::expect_matrix(comm, partition, open_matrix_file(comm, path)->read(partition), expected);
      ++written;
    }
  }
  EXPECT_EQ(written, 3);
}

TEST(WriteMatrix, RefusesAFolderThatIsNotThere) {
  const Communicator comm(MPI_COMM_WORLD);
  CsrRows rows;
  rows.global_rows = rows.global_columns = 0;
  const std::string message = test::refusal(comm, [&] { write_matrix(comm, "/no/such/folder/a.h5", "/A", rows); });
  test::expect_said(message, "/no/such/folder");
}

}  // namespace
}  // namespace block_eigs
