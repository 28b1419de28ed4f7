#include "io/checkpoint/file_lock.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Whether the open file is what the path leads to: who had the lock before removes it.
bool is_still_there(const OpenFile& file, const std::string& path) {
  struct stat open {};
  struct stat there {};
  return ::fstat(file.descriptor(), &open) == 0 && ::stat(path.c_str(), &there) == 0 &&
         open.st_dev == there.st_dev && open.st_ino == there.st_ino;
}

std::unique_ptr<OpenFile> lock(const std::string& what, const std::string& path, const std::string& lock_path) {
  for (;;) {
    auto file = std::make_unique<OpenFile>(lock_path, O_RDWR | O_CREAT);
    require(file->ok(), fmt::format("{}: {} cannot be made: {}", what, lock_path, std::strerror(errno)));
    if (::flock(file->descriptor(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      require(errno != EWOULDBLOCK,
              fmt::format("{}: another run is at work on {}; wait for it, or name another file", what, path));
      // Some file systems of clusters know no locks, and are what checkpoints are for.
      if (errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOLCK) return file;
      require(false, fmt::format("{}: {} cannot be locked: {}", what, lock_path, std::strerror(errno)));
    }
    if (is_still_there(*file, lock_path)) return file;
  }
}

}  // namespace

FileLock::FileLock(const Communicator& comm, const std::string& what, const std::string& path)
    : path_(path + ".lock") {
  comm.collectively([&] {
    if (comm.is_root()) file_ = lock(what, path, path_);
  });
  unfinished_.emplace(path_);
}

FileLock::~FileLock() {
  if (file_) ::unlink(path_.c_str());
}

void remove_partial_files(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path file(path);
  // What cannot be listed or removed does no harm. Not by fs::directory_iterator, which ends the process where
  // memory lacks for it.
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(file.parent_path().c_str()), ::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    const std::string name = entry->d_name;
    for (const char* kind : {".partial-", ".probe-"}) {
      const std::string prefix = file.filename().string() + kind;
      if (name.size() == prefix.size() || !name.starts_with(prefix)) continue;
      const bool number = std::all_of(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()), name.end(),
                                      [](unsigned char letter) { return std::isdigit(letter) != 0; });
      if (number) ::unlink((file.parent_path() / name).c_str());
    }
  }
}

}  // namespace block_eigs
