#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// File descriptor, closed when it goes. Not collective.
class OpenFile {
 public:
  /// As open(2); `flags` with O_CREAT gives the usual permissions.
  OpenFile(const std::string& path, int flags);
  /// Takes over an open one; a negative number stands for none.
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  int descriptor() const { return descriptor_; }
  bool ok() const { return descriptor_ >= 0; }
  /// False where the system refuses, with its reason in errno.
  bool write_at(std::int64_t offset, std::span<const std::byte> bytes) const;

 private:
  int descriptor_;
};

/// `path` made absolute, and links followed, so that a link to a result stays a link when the result is replaced.
std::string resolved_output_path(const std::string& path);

/// Throws InputError on all ranks where `path` cannot be that of a file, as rank 0 sees it: its folder is not
/// there, or what is there is no file. Leaves nothing behind for a moment either. Collective.
void require_place(const Communicator& comm, const std::string& path);

/// Finds out whether a file can be put at `path`, which may exist: its folder is there, every rank sees it, files
/// can be made in it, and what would be replaced is a file. Leaves nothing behind. Throws InputError on all ranks
/// that names the path. Collective.
void require_writable(const Communicator& comm, const std::string& path);

/// Throws InputError on all ranks where `path` is one of `inputs`, by whatever name: writing a result there would
/// replace what it was made from. Empty names are none. Collective.
void require_not_among(const Communicator& comm, const std::string& path, const std::vector<std::string>& inputs);

}  // namespace block_eigs
