#include "tests/fuzz/hdf5_parts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>

namespace block_eigs::fuzz {

namespace {

std::uint32_t word(const Bytes& bytes, std::size_t at, std::size_t width = 4) {
  std::uint32_t value = 0;
  if (width == 4 && at + 4 <= bytes.size()) {
    std::memcpy(&value, bytes.data() + at, 4);
    return value;
  }
  for (std::size_t k = 0; k < width && at + k < bytes.size(); ++k)
    value |= std::uint32_t{bytes[at + k]} << (8 * k);
  return value;
}

/// Jenkins's lookup3, hashlittle() from 0 on (burtleburtle.net/bob/c/lookup3.c): HDF5's checksum of structures.
std::uint32_t lookup3(const Bytes& bytes, Part part) {
  std::uint32_t a = 0xdeadbeef + static_cast<std::uint32_t>(part.count);
  std::uint32_t b = a;
  std::uint32_t c = a;
  std::size_t at = part.first;
  std::size_t left = part.count;
  const auto mix = [](std::uint32_t& x, std::uint32_t& y, std::uint32_t& z, int by) {
    x -= z;
    x ^= std::rotl(z, by);
    z += y;
  };
  for (; left > 12; left -= 12, at += 12) {
    a += word(bytes, at);
    b += word(bytes, at + 4);
    c += word(bytes, at + 8);
    mix(a, b, c, 4);
    mix(b, c, a, 6);
    mix(c, a, b, 8);
    mix(a, b, c, 16);
    mix(b, c, a, 19);
    mix(c, a, b, 4);
  }
  if (left == 0) return c;
  a += word(bytes, at, std::min<std::size_t>(left, 4));
  if (left > 4) b += word(bytes, at + 4, std::min<std::size_t>(left - 4, 4));
  if (left > 8) c += word(bytes, at + 8, left - 8);
  const auto finish = [](std::uint32_t& x, std::uint32_t y, int by) {
    x ^= y;
    x -= std::rotl(y, by);
  };
  finish(c, b, 14);
  finish(a, c, 11);
  finish(b, a, 25);
  finish(c, b, 16);
  finish(a, c, 4);
  finish(b, a, 14);
  finish(c, b, 24);
  return c;
}

constexpr std::array<std::string_view, 14> signatures{"OHDR", "OCHK", "TREE", "SNOD", "HEAP", "GCOL", "FRHP",
                                                      "FHDB", "FHIB", "BTHD", "BTLF", "BTIN", "FADB", "FAHD"};
constexpr std::size_t superblock = 96;

bool is_at(const Bytes& file, std::size_t at, std::string_view text) {
  return at + text.size() <= file.size() &&
         std::equal(text.begin(), text.end(), file.begin() + static_cast<std::ptrdiff_t>(at));
}

bool is_signature(const Bytes& file, std::size_t at) {
  return std::any_of(signatures.begin(), signatures.end(), [&](auto text) { return is_at(file, at, text); });
}

/// Messages of an object header of version 1 at `at`, where there is one.
void add_messages(const Bytes& file, std::size_t at, std::vector<Part>& parts) {
  constexpr std::size_t prefix = 16;
  constexpr std::size_t message_prefix = 8;
  if (at + prefix > file.size() || file[at] != 1 || file[at + 1] != 0) return;
  const std::size_t messages = word(file, at + 2, 2);
  const std::size_t size = word(file, at + 8);
  if (messages == 0 || messages > 100 || word(file, at + 4) > 4 || at + prefix + size > file.size()) return;
  std::size_t place = at + prefix;
  for (std::size_t m = 0; m < messages && place + message_prefix <= at + prefix + size; ++m) {
    const std::size_t body = word(file, place + 2, 2);
    if (place + message_prefix + body > file.size()) return;
    parts.push_back({place, message_prefix});
    // Shape, type, fill value, layout, filters, attribute, continuation, table of links: what readers look at.
    const bool matters = body > 0 && word(file, place, 2) != 0;
    if (matters) parts.push_back({place + message_prefix, body});
    place += message_prefix + body;
  }
}

}  // namespace

std::vector<Part> hdf5_structures(const Bytes& file) {
  std::vector<Part> parts{{0, std::min(superblock, file.size())}};
  for (std::size_t at = 0; at + 4 <= file.size(); ++at) {
    constexpr std::size_t shown = 128;
    if (is_signature(file, at)) parts.push_back({at, std::min(shown, file.size() - at)});
    if (at % 8 == 0) add_messages(file, at, parts);
  }
  return parts;
}

std::vector<Part> hdf5_checksummed(const Bytes& file) {
  constexpr std::size_t least = 12;
  constexpr std::size_t most = 600;
  std::vector<Part> parts;
  for (std::size_t at = 0; at + 4 <= file.size(); ++at) {
    const bool is_new = is_signature(file, at) && !is_at(file, at, "TREE") && !is_at(file, at, "SNOD") &&
                        !is_at(file, at, "HEAP") && !is_at(file, at, "GCOL");
    if (!is_new && !is_at(file, at, "\x89HDF")) continue;
    for (std::size_t count = least; count <= most && at + count + 4 <= file.size(); ++count) {
      if (lookup3(file, {at, count}) != word(file, at + count)) continue;
      parts.push_back({at, count});
      break;
    }
  }
  return parts;
}

void mend_checksums(Bytes& file, const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    const std::uint32_t checksum = lookup3(file, part);
    for (std::size_t k = 0; k < 4; ++k)
      file[part.first + part.count + k] = static_cast<std::uint8_t>(checksum >> (8 * k));
  }
}

void mutate_hdf5(Bytes& file, Draw& draw) {
  const auto checksummed = hdf5_checksummed(file);
  const auto parts = hdf5_structures(file);
  const std::size_t changes = 1 + draw.below(3);
  for (std::size_t i = 0; i < changes; ++i) {
    Part part = parts[draw.below(parts.size())];
    // In damaged heaps of strings the library does not come to an end: time for other inputs is worth more.
    if (is_at(file, part.first, "GCOL") && draw.below(4) != 0) part = parts[draw.below(parts.size())];
    switch (draw.below(4)) {
      case 0:
        mutate_part(file, part.first, part.count);
        break;
      case 1: {  // one structure over another
        const Part other = parts[draw.below(parts.size())];
        const Bytes copy(
            file.begin() + static_cast<std::ptrdiff_t>(other.first),
            file.begin() + static_cast<std::ptrdiff_t>(other.first + std::min(part.count, other.count)));
        std::copy(copy.begin(), copy.end(), file.begin() + static_cast<std::ptrdiff_t>(part.first));
        break;
      }
      default:
        plant_number(file, part.first, part.count, draw);
    }
  }
  mend_checksums(file, checksummed);
}

}  // namespace block_eigs::fuzz
