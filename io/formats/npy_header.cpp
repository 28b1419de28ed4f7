#include "io/formats/npy_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <string_view>

#include "io/files/extents.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Bytes of one element, more than any type of numbers has and any word of ours.
constexpr std::int64_t most_width = std::int64_t{1} << 32;

/// The text after `'key':` in the header's Python dictionary.
std::string_view value_of(std::string_view dictionary, std::string_view key, const std::string& name) {
  const auto at = dictionary.find(fmt::format("'{}'", key));
  const auto colon = at == std::string_view::npos ? at : dictionary.find(':', at);
  require(colon != std::string_view::npos,
          fmt::format("{}: its header lacks '{}'; the file is damaged", name, key));
  const auto begin = dictionary.find_first_not_of(' ', colon + 1);
  return begin == std::string_view::npos ? std::string_view{} : dictionary.substr(begin);
}

void parse_type(std::string_view text, NpyHeader& header, const std::string& name) {
  // '<f8': byte order, kind, width. A structured type starts with a list instead.
  require(text.size() > 4 && text[0] == '\'',
          fmt::format("{}: has a structured element type; plain numbers are needed", name));
  const auto end = text.find('\'', 1);
  require(end != std::string_view::npos && end >= 3, fmt::format("{}: its element type cannot be read", name));
  header.big_endian = text[1] == '>';
  header.kind = text[2];
  header.width = 8;
  const auto [stop, error] = std::from_chars(text.data() + 3, text.data() + end, header.width);
  require(error != std::errc::result_out_of_range && header.width >= 0 && header.width <= most_width,
          fmt::format("{}: its element type cannot be read", name));
  if (header.kind == 'U') header.width *= 4;
}

void parse_shape(std::string_view text, NpyHeader& header, const std::string& name) {
  const auto end = text.find(')');
  require(!text.empty() && text[0] == '(' && end != std::string_view::npos,
          fmt::format("{}: its shape cannot be read", name));
  for (const char* at = text.data() + 1; at < text.data() + end;) {
    std::int64_t extent = 0;
    const auto [next, error] = std::from_chars(at, text.data() + end, extent);
    require(error != std::errc::result_out_of_range, fmt::format("{}: its shape is impossibly large", name));
    if (error != std::errc{}) {
      ++at;
      continue;
    }
    require(extent >= 0, fmt::format("{}: its shape has a negative extent", name));
    header.shape.push_back(extent);
    at = next;
  }
}

template <class Stored, class T>
void convert_as(const NpyHeader& header, const char* bytes, std::size_t count, T* out) {
  const bool swap = header.big_endian != (std::endian::native == std::endian::big);
  for (std::size_t k = 0; k < count; ++k) {
    std::array<char, sizeof(Stored)> ordered;
    std::memcpy(ordered.data(), bytes + k * sizeof(Stored), sizeof(Stored));
    if (swap) std::reverse(ordered.begin(), ordered.end());
    out[k] = static_cast<T>(+std::bit_cast<Stored>(ordered));
  }
}

template <class T>
void convert(const NpyHeader& header, const char* bytes, std::size_t count, T* out) {
  const bool is_signed = header.kind == 'i';
  switch (header.width) {
    case 1:
      return is_signed ? convert_as<std::int8_t>(header, bytes, count, out)
                       : convert_as<std::uint8_t>(header, bytes, count, out);
    case 2:
      return is_signed ? convert_as<std::int16_t>(header, bytes, count, out)
                       : convert_as<std::uint16_t>(header, bytes, count, out);
    case 4:
      if (header.kind == 'f') return convert_as<float>(header, bytes, count, out);
      return is_signed ? convert_as<std::int32_t>(header, bytes, count, out)
                       : convert_as<std::uint32_t>(header, bytes, count, out);
    default:
      if (header.kind == 'f') return convert_as<double>(header, bytes, count, out);
      return is_signed ? convert_as<std::int64_t>(header, bytes, count, out)
                       : convert_as<std::uint64_t>(header, bytes, count, out);
  }
}

}  // namespace

std::int64_t NpyHeader::size() const { return element_count(shape, width); }

std::string NpyHeader::type_name() const {
  constexpr std::string_view letters = "biufcSUO";
  constexpr std::array names{"bool", "int", "uint", "float", "complex", "bytes", "text", "object"};
  const auto at = letters.find(kind);
  if (at == std::string_view::npos) return fmt::format("type '{}'", kind);
  return at >= 1 && at <= 4 ? fmt::format("{}{}", names[at], 8 * width) : names[at];
}

NpyHeader parse_npy_header(const std::string& head, const std::string& name) {
  require(head.size() >= 12 && head.compare(0, 6, "\x93NUMPY") == 0,
          fmt::format("{}: is not a NumPy array; the file is damaged", name));
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(head[i])); };
  const bool version_1 = byte(6) == 1;
  const std::size_t begin = version_1 ? 10 : 12;
  const std::size_t length =
      version_1 ? byte(8) + 256 * byte(9) : byte(8) + 256 * (byte(9) + 256 * (byte(10) + 256 * byte(11)));
  require(begin + length <= head.size(), fmt::format("{}: its header is cut off or too long", name));
  const auto dictionary = std::string_view(head).substr(begin, length);
  NpyHeader header;
  header.data_offset = static_cast<std::int64_t>(begin + length);
  parse_type(value_of(dictionary, "descr", name), header, name);
  header.fortran_order = value_of(dictionary, "fortran_order", name).starts_with("True");
  parse_shape(value_of(dictionary, "shape", name), header, name);
  require(header.size() >= 0, fmt::format("{}: its shape is impossibly large", name));
  return header;
}

void convert_npy(const NpyHeader& header, const char* bytes, std::size_t count, double* out) {
  convert(header, bytes, count, out);
}

void convert_npy(const NpyHeader& header, const char* bytes, std::size_t count, std::int64_t* out) {
  convert(header, bytes, count, out);
}

bool is_npy_integer(const NpyHeader& header) {
  const bool is_integer = header.kind == 'b' || header.kind == 'i' || header.kind == 'u';
  return is_integer && std::has_single_bit(static_cast<std::uint64_t>(header.width)) && header.width <= 8;
}

bool is_npy_number(const NpyHeader& header) {
  return is_npy_integer(header) || (header.kind == 'f' && (header.width == 4 || header.width == 8));
}

std::string npy_text(const NpyHeader& header, const std::string& array) {
  std::string text;
  if ((header.kind != 'S' && header.kind != 'U') || header.size() != 1) return text;
  const auto begin = static_cast<std::size_t>(header.data_offset);
  const std::size_t step = header.kind == 'U' ? 4 : 1;
  const std::size_t first = header.kind == 'U' && header.big_endian ? 3 : 0;
  for (std::size_t k = begin + first; k < std::min(array.size(), begin + static_cast<std::size_t>(header.width));
       k += step) {
    if (array[k] != '\0') text.push_back(array[k]);
  }
  return text;
}

}  // namespace block_eigs
