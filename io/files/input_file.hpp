#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// `path` as error messages show it: absolute, without "." and "..". Relative paths start at the working
/// directory.
std::string absolute_path(const std::string& path);

/// Regular file that is read by position. Not collective; functions throw InputError that names the path.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  const std::string& path() const { return path_; }  ///< absolute
  std::int64_t size() const { return size_; }        ///< bytes
  /// Bytes [offset, offset + count), all of which must lie within the file.
  void read(std::int64_t offset, void* to, std::size_t count) const;
  /// Whether `descriptor` is of this file, whatever its name is by now.
  bool is_what_is_open(int descriptor) const;
  /// The first `count` bytes, fewer where the file is shorter.
  std::string head(std::size_t count) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

/// Throws InputError unless `path` is a regular file that every rank can open: a missing file, a directory, no
/// permission, and a folder that not all nodes share are told apart. Collective.
void require_readable(const Communicator& comm, const std::string& path);

/// Throws InputError on all ranks where a rank has not found in the file `name` what rank 0 has: `seen` is that in
/// words. What ranks read each for itself, and decide by, must be the same. Collective.
void require_seen_alike(const Communicator& comm, const std::string& name, const std::string& seen);

}  // namespace block_eigs
