#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "io/files/input_file.hpp"

namespace block_eigs {

/// Bytes of a file from its start, decompressed where the file is. Not collective; functions throw InputError.
class ByteStream {
 public:
  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  virtual ~ByteStream() = default;

  virtual const std::string& path() const = 0;
  /// Up to `count` bytes; fewer only at the end.
  virtual std::size_t read(char* to, std::size_t count) = 0;
  /// Throws where fewer than `count` bytes are left.
  void skip(std::size_t count);
};

/// Decompresses gzip files on the fly, those of several members included. Throws where the file is cut off or
/// damaged.
std::unique_ptr<ByteStream> open_byte_stream(const std::string& path);

/// True where a file that starts with `head` is compressed by gzip.
bool is_gzip(const std::string& head);

}  // namespace block_eigs
