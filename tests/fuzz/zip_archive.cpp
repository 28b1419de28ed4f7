#include "tests/fuzz/zip_archive.hpp"

#include <zlib.h>

#include <algorithm>
#include <string_view>

#include "tests/fuzz/deflate.hpp"

namespace block_eigs::fuzz {

namespace {

// Sizes in bytes and places of fields, from PKWARE's APPNOTE.TXT.
constexpr std::size_t local_size = 30;
constexpr std::size_t central_size = 46;
constexpr std::size_t end_size = 22;

std::size_t number(const Bytes& bytes, std::size_t at, std::size_t width) {
  std::size_t value = 0;
  for (std::size_t k = 0; k < width; ++k) value |= std::size_t{bytes[at + k]} << (8 * k);
  return value;
}

void append(Bytes& bytes, std::size_t value, std::size_t width) {
  for (std::size_t k = 0; k < width; ++k) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * k)));
}

/// Version needed, flags, method, time, date, checksum and sizes: the same in both headers.
void append_common(Bytes& bytes, const ZipMember& member, std::size_t packed_size) {
  append(bytes, 20, 2);
  append(bytes, 0, 2);
  append(bytes, member.stored ? 0 : 8, 2);
  append(bytes, 0, 4);
  append(bytes, crc32_z(0, member.content.data(), member.content.size()), 4);
  append(bytes, packed_size, 4);
  append(bytes, member.content.size(), 4);
  append(bytes, member.name.size(), 2);
  append(bytes, 0, 2);
}

void append(Bytes& bytes, std::string_view text) { bytes.insert(bytes.end(), text.begin(), text.end()); }

/// The member whose entry in the list begins at `at`; false where it is broken.
bool read_member(const Bytes& archive, std::size_t at, ZipMember& member) {
  const std::size_t place = number(archive, at + 42, 4);
  const std::size_t packed_size = number(archive, at + 20, 4);
  const std::size_t name_size = number(archive, at + 28, 2);
  if (at + central_size + name_size > archive.size() || place + local_size > archive.size()) return false;
  member.name.assign(archive.begin() + static_cast<std::ptrdiff_t>(at + central_size),
                     archive.begin() + static_cast<std::ptrdiff_t>(at + central_size + name_size));
  member.stored = number(archive, at + 10, 2) == 0;
  const std::size_t data = place + local_size + number(archive, place + 26, 2) + number(archive, place + 28, 2);
  if (data + packed_size > archive.size()) return false;
  const Bytes packed(archive.begin() + static_cast<std::ptrdiff_t>(data),
                     archive.begin() + static_cast<std::ptrdiff_t>(data + packed_size));
  member.content = member.stored ? packed : inflate_raw(packed);
  return true;
}

}  // namespace

std::vector<ZipMember> read_zip(const Bytes& archive) {
  std::vector<ZipMember> members;
  if (archive.size() < end_size) return members;
  const std::size_t end = archive.size() - end_size;
  if (number(archive, end, 4) != 0x06054b50) return members;
  std::size_t at = number(archive, end + 16, 4);
  while (at + central_size <= archive.size() && number(archive, at, 4) == 0x02014b50) {
    ZipMember member;
    if (!read_member(archive, at, member)) break;
    members.push_back(std::move(member));
    at += central_size + number(archive, at + 28, 2) + number(archive, at + 30, 2) + number(archive, at + 32, 2);
  }
  return members;
}

Bytes write_zip(const std::vector<ZipMember>& members) {
  Bytes archive;
  Bytes list;
  for (const ZipMember& member : members) {
    const Bytes packed = member.stored ? member.content : deflate_raw(member.content);
    const std::size_t place = archive.size();
    append(archive, 0x04034b50, 4);
    append_common(archive, member, packed.size());
    append(archive, member.name);
    archive.insert(archive.end(), packed.begin(), packed.end());
    append(list, 0x02014b50, 4);
    append(list, 20, 2);
    append_common(list, member, packed.size());
    append(list, 0, 6);  // no comment, one disk, bytes
    append(list, 0, 4);
    append(list, place, 4);
    append(list, member.name);
  }
  const std::size_t list_place = archive.size();
  archive.insert(archive.end(), list.begin(), list.end());
  append(archive, 0x06054b50, 4);
  append(archive, 0, 4);
  append(archive, members.size(), 2);
  append(archive, members.size(), 2);
  append(archive, list.size(), 4);
  append(archive, list_place, 4);
  append(archive, 0, 2);
  return archive;
}

}  // namespace block_eigs::fuzz
