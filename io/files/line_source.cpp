#include "io/files/line_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "io/files/byte_stream.hpp"
#include "io/files/gzip_lines.hpp"
#include "io/files/input_file.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr std::int64_t piece = std::int64_t{8} << 20;

/// Lines of an uncompressed file: the ranks' byte ranges, each moved on to where a line begins.
class PlainLines : public LineSource {
 public:
  PlainLines(const Communicator& comm, const std::string& path, std::int64_t offset)
      : comm_(comm), file_(path), offset_(offset) {}

  /// Finds the own range. Collective, unlike the constructor.
  void share_out() {
    comm_.collectively([&] {
      const std::int64_t length = file_.size() - offset_;
      position_ =
          offset_ + length / comm_.size() * comm_.rank() + length % comm_.size() * comm_.rank() / comm_.size();
      if (comm_.rank() > 0) position_ = line_begin_from(position_);
    });
    const auto begins = comm_.all_gather(position_);
    const auto next = static_cast<std::size_t>(comm_.rank()) + 1;
    end_ = next < begins.size() ? begins[next] : file_.size();
  }

  bool next(std::string_view& lines) override {
    if (!comm_.any(position_ < end_)) return false;
    comm_.collectively([&] { lines = read_piece(); });
    return true;
  }

  std::int64_t position() const override { return piece_offset_; }

  std::int64_t line_number(const char* at) const override {
    const std::int64_t end = piece_offset_ + (at - buffer_.data());
    std::vector<char> bytes(static_cast<std::size_t>(std::min(piece, end)));
    std::int64_t line = 1;
    for (std::int64_t begin = 0; begin < end; begin += piece) {
      const std::int64_t now = std::min(piece, end - begin);
      file_.read(begin, bytes.data(), static_cast<std::size_t>(now));
      line += std::count(bytes.begin(), bytes.begin() + now, '\n');
    }
    return line;
  }

 private:
  /// The first place at or after `from` where a line begins.
  std::int64_t line_begin_from(std::int64_t from) const {
    std::vector<char> bytes(4096);
    for (std::int64_t at = std::max<std::int64_t>(from - 1, 0); at < file_.size();) {
      const auto now = std::min<std::int64_t>(static_cast<std::int64_t>(bytes.size()), file_.size() - at);
      file_.read(at, bytes.data(), static_cast<std::size_t>(now));
      const auto newline = std::find(bytes.begin(), bytes.begin() + now, '\n');
      if (newline != bytes.begin() + now) return at + (newline - bytes.begin()) + 1;
      at += now;
    }
    return file_.size();
  }

  std::string_view read_piece() {
    piece_offset_ = position_;
    const std::int64_t count = std::min(piece, end_ - position_);
    if (count <= 0) return {};
    buffer_.resize(static_cast<std::size_t>(count));
    file_.read(position_, buffer_.data(), buffer_.size());
    std::string_view lines(buffer_.data(), buffer_.size());
    if (position_ + count < end_) {
      const auto newline = lines.rfind('\n');
      require(newline != std::string_view::npos,
              fmt::format("{}: has a line of more than {} bytes at byte {}; it is no text of numbers",
                          file_.path(), piece, position_));
      lines = lines.substr(0, newline + 1);
    }
    position_ += static_cast<std::int64_t>(lines.size());
    return lines;
  }

  Communicator comm_;
  InputFile file_;
  std::int64_t offset_;
  std::int64_t position_ = 0;
  std::int64_t end_ = 0;
  std::int64_t piece_offset_ = 0;
  std::vector<char> buffer_;
};

}  // namespace

std::unique_ptr<LineSource> open_lines(const Communicator& comm, const std::string& path, std::int64_t offset,
                                       std::int64_t first_line) {
  bool compressed = false;
  std::unique_ptr<PlainLines> plain;
  comm.collectively([&] {
    compressed = is_gzip(InputFile(path).head(2));
    if (!compressed) plain = std::make_unique<PlainLines>(comm, path, offset);
  });
  if (compressed) return open_gzip_lines(comm, path, offset, first_line);
  plain->share_out();
  return plain;
}

}  // namespace block_eigs
