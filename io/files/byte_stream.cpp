#include "io/files/byte_stream.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "spmm/error.hpp"

namespace block_eigs {

namespace {

class PlainStream : public ByteStream {
 public:
  explicit PlainStream(const std::string& path) : file_(path) {}
  const std::string& path() const override { return file_.path(); }
  std::size_t read(char* to, std::size_t count) override {
    const std::size_t now = std::min(count, static_cast<std::size_t>(file_.size() - position_));
    file_.read(position_, to, now);
    position_ += static_cast<std::int64_t>(now);
    return now;
  }

 private:
  InputFile file_;
  std::int64_t position_ = 0;
};

class GzipStream : public ByteStream {
 public:
  explicit GzipStream(const std::string& path)
      : file_(path), compressed_(std::min(std::size_t{1} << 20, static_cast<std::size_t>(file_.size()))) {
    // 16: a gzip header and its checksum are wanted, not zlib's.
    if (inflateInit2(&state_, MAX_WBITS + 16) != Z_OK) throw of_memory(RunError("out of host memory"));
  }
  ~GzipStream() override { inflateEnd(&state_); }

  const std::string& path() const override { return file_.path(); }

  std::size_t read(char* to, std::size_t count) override {
    std::size_t done = 0;
    while (done < count && !finished_) {
      if (state_.avail_in == 0) refill();
      const auto room = static_cast<uInt>(std::min(count - done, std::size_t{1} << 30));
      state_.next_out = reinterpret_cast<Bytef*>(to + done);
      state_.avail_out = room;
      const int code = inflate(&state_, Z_NO_FLUSH);
      done += room - state_.avail_out;
      if (code == Z_STREAM_END) {
        next_member();
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        throw InputError(fmt::format("{}: is damaged: gzip data are wrong near byte {} ({})", path(),
                                     position_ - state_.avail_in,
                                     state_.msg != nullptr ? state_.msg : "no reason given"));
      }
    }
    return done;
  }

 private:
  void refill() {
    const auto left = static_cast<std::size_t>(file_.size() - position_);
    require(left > 0, fmt::format("{}: is cut off: the gzip data end at byte {} without their end mark", path(),
                                  file_.size()));
    const std::size_t now = std::min(left, compressed_.size());
    file_.read(position_, compressed_.data(), now);
    position_ += static_cast<std::int64_t>(now);
    state_.next_in = reinterpret_cast<Bytef*>(compressed_.data());
    state_.avail_in = static_cast<uInt>(now);
  }

  /// After the end of a member comes the end of the file, another member, or padding with zeros.
  void next_member() {
    while (true) {
      if (state_.avail_in == 0 && position_ == file_.size()) {
        finished_ = true;
        return;
      }
      if (state_.avail_in == 0) refill();
      if (*state_.next_in != 0) break;
      ++state_.next_in;
      --state_.avail_in;
    }
    require(*state_.next_in == 0x1f, fmt::format("{}: has bytes after its end that are no gzip data, at byte {}",
                                                 path(), position_ - state_.avail_in));
    inflateReset(&state_);
  }

  InputFile file_;
  std::vector<char> compressed_;
  std::int64_t position_ = 0;
  z_stream state_{};
  bool finished_ = false;
};

}  // namespace

void ByteStream::skip(std::size_t count) {
  std::array<char, 65536> bytes;
  while (count > 0) {
    const std::size_t got = read(bytes.data(), std::min(count, bytes.size()));
    require(got > 0, fmt::format("{}: is cut off", path()));
    count -= got;
  }
}

bool is_gzip(const std::string& head) { return head.size() >= 2 && head[0] == '\x1f' && head[1] == '\x8b'; }

std::unique_ptr<ByteStream> open_byte_stream(const std::string& path) {
  if (is_gzip(InputFile(path).head(2))) return std::make_unique<GzipStream>(path);
  return std::make_unique<PlainStream>(path);
}

}  // namespace block_eigs
