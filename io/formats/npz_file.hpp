#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace block_eigs {

/// Zip archive of .npy arrays, read by one process: compressed members can only be read from their start. Not
/// collective. Functions throw InputError that names file and member.
class NpzFile {
 public:
  explicit NpzFile(const std::string& path);
  NpzFile(const NpzFile&) = delete;
  NpzFile& operator=(const NpzFile&) = delete;
  ~NpzFile();

  /// Absolute.
  const std::string& path() const { return path_; }
  /// Names of the arrays, without ".npy".
  std::vector<std::string> arrays() const;
  /// The first `count` bytes of an array, fewer where it is shorter; then its checksum must agree.
  std::string head(const std::string& array, std::size_t count) const;

  /// Whether the bytes of an array lie in the archive as they are, so that they can be read from anywhere.
  bool is_stored(const std::string& array) const;
  /// Of an array, header included, as the archive promises.
  std::int64_t bytes(const std::string& array) const;
  /// Whether what the archive holds of an array, packed, can come to `count` bytes.
  bool can_hold(const std::string& array, std::int64_t count) const;
  /// The CRC-32 that the archive promises of an array, all of its bytes.
  std::uint32_t checksum(const std::string& array) const;

  /// An array read from its first byte on.
  class Stream {
   public:
    Stream(const NpzFile& file, const std::string& array);
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream();
    /// Throws where fewer than `count` bytes are left.
    void read(char* to, std::size_t count);
    void skip(std::size_t count);
    /// Of a stored array: goes on from byte `position`. Its checksum is the caller's business then.
    void seek(std::int64_t position);
    /// To be called after the last byte: the checksum must agree, and nothing may follow.
    void finish();

   private:
    std::size_t read_some(char* to, std::size_t count);

    std::string name_;
    void* member_ = nullptr;
  };

 private:
  std::string path_;
  void* archive_ = nullptr;
};

}  // namespace block_eigs
