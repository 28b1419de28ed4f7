#include "io/files/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Why the path cannot be read, empty where it can. Looks before it opens: opening a pipe would wait for ever.
std::string obstacle(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return errno == ENOENT || errno == ENOTDIR ? "no such file" : std::strerror(errno);
  }
  if (S_ISDIR(status.st_mode)) return "is a directory; a file is needed";
  if (!S_ISREG(status.st_mode)) return "is not a regular file";
  if (::access(path.c_str(), R_OK) != 0)
    return std::string("cannot be opened for reading: ") + std::strerror(errno);
  return {};
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

std::string absolute_path(const std::string& path) {
  std::error_code ignored;
  const auto absolute = std::filesystem::absolute(path, ignored);
  return ignored ? path : absolute.lexically_normal().string();
}

InputFile::InputFile(const std::string& path) : path_(absolute_path(path)) {
  const std::string why = obstacle(path_);
  require(why.empty(), fmt::format("{}: {}", path_, why));
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  require(descriptor_ >= 0, fmt::format("{}: cannot be opened for reading: {}", path_, std::strerror(errno)));
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) {
    const int error = errno;
    ::close(descriptor_);  // there will be no object to do it
    throw InputError(fmt::format("{}: cannot be read: {}", path_, std::strerror(error)));
  }
  size_ = status.st_size;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void InputFile::read(std::int64_t offset, void* to, std::size_t count) const {
  auto* target = static_cast<char*>(to);
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, target, std::min(count, std::size_t{1} << 30), offset);
    if (got < 0 && errno == EINTR) continue;
    require(got >= 0, fmt::format("{}: reading failed at byte {}: {}", path_, offset, std::strerror(errno)));
    require(got > 0,
            fmt::format("{}: is cut off: it ends at byte {} where {} more were expected", path_, offset, count));
    target += got;
    offset += got;
    count -= static_cast<std::size_t>(got);
  }
}

bool InputFile::is_what_is_open(int descriptor) const {
  struct stat own {};
  struct stat other {};
  return ::fstat(descriptor_, &own) == 0 && ::fstat(descriptor, &other) == 0 && own.st_dev == other.st_dev &&
         own.st_ino == other.st_ino;
}

std::string InputFile::head(std::size_t count) const {
  std::string bytes(std::min(count, static_cast<std::size_t>(size_)), '\0');
  read(0, bytes.data(), bytes.size());
  return bytes;
}

void require_readable(const Communicator& comm, const std::string& path) {
  const std::string absolute = absolute_path(path);
  comm.collectively([&] {
    if (!comm.is_root()) return;
    const std::string why = obstacle(absolute);
    require(why.empty(), fmt::format("{}: {}", absolute, why));
  });
  comm.collectively([&] {
    const std::string why = obstacle(absolute);
    require(why.empty(), fmt::format("{}: {} on node {}, though rank 0 can read it; put it where all nodes see it",
                                     absolute, why, host_name()));
  });
}

void require_seen_alike(const Communicator& comm, const std::string& name, const std::string& seen) {
  const std::string by_root = comm.broadcast(seen);
  comm.collectively([&] {
    require(
        seen == by_root,
        fmt::format("{}: rank {} finds other things in it than rank 0; it must be one file that all nodes see, "
                    "and stay as it is while it is read",
                    name, comm.rank()));
  });
}

}  // namespace block_eigs
