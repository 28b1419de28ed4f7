#include "io/checkpoint/row_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <utility>

#include "io/checkpoint/digest.hpp"
#include "io/files/output_path.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Large enough for disks, small enough for caches: digests are formed on the way.
constexpr std::int64_t piece_bytes = std::int64_t{4} << 20;

[[noreturn]] void fail(const std::string& path) {
  throw RunError(fmt::format("{}: writing failed: {}", path, std::strerror(errno)));
}

/// Threads that begin while this lives leave all signals to others.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

RowWriter::RowWriter(std::string path, std::vector<RowsToWrite> work)
    : path_(std::move(path)), work_(std::move(work)) {}

RowWriter::~RowWriter() {
  unwanted_ = true;
  if (thread_.joinable()) thread_.join();
}

void RowWriter::start() {
  const SignalsBlocked blocked;
  busy_ = true;
  try {
    thread_ = std::thread([this] {
      try {
        write();
      } catch (...) {
        failure_ = std::current_exception();
      }
      busy_ = false;
    });
  } catch (...) {
    busy_ = false;
    throw;
  }
}

std::vector<std::uint64_t> RowWriter::finish() {
  if (thread_.joinable()) {
    thread_.join();
    done_ = true;
  }
  if (failure_) std::rethrow_exception(failure_);
  if (!std::exchange(done_, true)) write();
  return digests_;
}

void RowWriter::write() {
  const OpenFile file(path_, O_WRONLY);
  if (!file.ok()) fail(path_);
  bool any = false;
  for (const RowsToWrite& rows : work_) {
    std::visit([&](const auto& pieces) { write_rows(file, rows, pieces); }, rows.pieces);
    any |= rows.rows > 0;
  }
  // Some file systems find out only now that the disk is full.
  if (any && !unwanted_ && ::fsync(file.descriptor()) != 0) fail(path_);
}

template <class T>
void RowWriter::write_rows(const OpenFile& file, const RowsToWrite& rows, const RowPieces<T>& pieces) {
  Digest digest;
  const auto row_bytes = rows.columns * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t step = std::max<std::int64_t>(piece_bytes / std::max<std::int64_t>(row_bytes, 1), 1);
  for (std::int64_t first = 0; first < rows.rows && !unwanted_; first += step) {
    const std::int64_t count = std::min(step, rows.rows - first);
    const std::span<const T> piece = pieces(first, count);
    digest.add(rows.place + static_cast<std::uint64_t>(first * rows.columns), piece);
    if (!file.write_at(rows.offset + first * row_bytes, std::as_bytes(piece))) fail(path_);
  }
  digests_.push_back(digest.value());
}

}  // namespace block_eigs
