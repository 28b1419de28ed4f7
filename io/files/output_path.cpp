#include "io/files/output_path.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "spmm/error.hpp"
#include "spmm/unfinished_files.hpp"

namespace block_eigs {

namespace {

namespace fs = std::filesystem;

/// A file that exists as long as this object does. One that is there already was left by a process of the same
/// number, which in a container may be the one before.
class ProbeFile {
 public:
  explicit ProbeFile(const std::string& path) : path_(path), file_(path, O_WRONLY | O_CREAT) {
    if (!file_.ok()) error_ = errno;
  }
  ProbeFile(const ProbeFile&) = delete;
  ProbeFile& operator=(const ProbeFile&) = delete;
  ~ProbeFile() {
    if (file_.ok()) ::unlink(path_.c_str());
  }
  /// Why it could not be made; 0 where it was.
  int error() const { return error_; }

 private:
  std::string path_;
  OpenFile file_;
  int error_ = 0;
};

void require_place(const fs::path& path) {
  std::error_code error;
  const fs::path folder = path.parent_path();
  require(fs::exists(folder, error),
          fmt::format("{}: cannot be written: the folder {} does not exist", path.string(), folder.string()));
  require(fs::is_directory(folder, error),
          fmt::format("{}: cannot be written: {} is not a folder", path.string(), folder.string()));
  require(!fs::is_directory(path, error),
          fmt::format("{}: cannot be written: this is a folder; a file name is needed", path.string()));
  require(!fs::exists(path, error) || fs::is_regular_file(path, error),
          fmt::format("{}: cannot be written: this is not a regular file", path.string()));
}

}  // namespace

OpenFile::OpenFile(const std::string& path, int flags)
    : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}

OpenFile::~OpenFile() {
  if (ok()) ::close(descriptor_);
}

bool OpenFile::write_at(std::int64_t offset, std::span<const std::byte> bytes) const {
  // The system takes at most 2 GB in a call.
  constexpr std::size_t most = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(descriptor_, bytes.data(), std::min(bytes.size(), most), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += put;
  }
  return true;
}

std::string resolved_output_path(const std::string& path) {
  constexpr int most_links = 40;
  std::error_code error;
  fs::path resolved = fs::absolute(path).lexically_normal();
  // By hand: fs::canonical stops at a link that leads to nothing yet.
  for (int i = 0; i < most_links && fs::is_symlink(resolved, error); ++i) {
    resolved = (resolved.parent_path() / fs::read_symlink(resolved, error)).lexically_normal();
  }
  return resolved.string();
}

void require_place(const Communicator& comm, const std::string& path) {
  comm.collectively([&] {
    if (comm.is_root()) require_place(fs::path(resolved_output_path(path)));
  });
}

void require_writable(const Communicator& comm, const std::string& given) {
  const std::string path = comm.broadcast(resolved_output_path(given));
  const std::string probe_path = comm.broadcast(fmt::format("{}.probe-{}", path, ::getpid()));
  const UnfinishedFile unfinished(probe_path);
  std::unique_ptr<ProbeFile> probe;
  comm.collectively([&] {
    if (!comm.is_root()) return;
    require_place(path);
    probe = std::make_unique<ProbeFile>(probe_path);
    require(probe->error() == 0, fmt::format("{}: cannot be written: making a file in that folder fails: {}", path,
                                             std::strerror(probe->error())));
  });
  comm.collectively([&] {
    require(
        OpenFile(probe_path, O_WRONLY).ok(),
        fmt::format("{}: cannot be written: rank {} does not see files that rank 0 makes in that folder; it must "
                    "be one that all nodes share",
                    path, comm.rank()));
  });
}

void require_not_among(const Communicator& comm, const std::string& path, const std::vector<std::string>& inputs) {
  comm.collectively([&] {
    if (!comm.is_root()) return;
    for (const std::string& input : inputs) {
      std::error_code unknown;  // what is not there is found elsewhere
      const bool same = !input.empty() && std::filesystem::equivalent(path, input, unknown);
      require(!same, path + ": the result would replace what it is made from; name another file under 'output'");
    }
  });
}

}  // namespace block_eigs
