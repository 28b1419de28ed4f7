#pragma once

#include <memory>
#include <optional>
#include <string>

#include "io/files/output_path.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/unfinished_files.hpp"

namespace block_eigs {

/// Keeps other runs away from a file while this object lives: rank 0 holds flock(2) on `path`.lock, which the
/// system gives up with the process, however that ends.
class FileLock {
 public:
  /// Collective; throws InputError on all ranks where another process has it, or where it cannot be made. `what`
  /// is what messages call the file.
  FileLock(const Communicator& comm, const std::string& what, const std::string& path);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  std::string path_;
  std::unique_ptr<OpenFile> file_;  ///< rank 0 only
  std::optional<UnfinishedFile> unfinished_;
};

/// Removes what earlier runs that were killed have left beside `path` while they wrote it: call it with its lock.
/// Not collective.
void remove_partial_files(const std::string& path);

}  // namespace block_eigs
