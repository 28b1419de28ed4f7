#include "io/hdf5/chunk_filters.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace block_eigs {

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t checksum_bytes = 4;

std::uint32_t number(std::byte byte) { return std::to_integer<std::uint32_t>(byte); }

/// Over words of two bytes, the first one the higher; the last byte of an odd number counts as such.
std::uint32_t fletcher32(const std::byte* bytes, std::size_t count) {
  constexpr std::size_t most_words = 360;  // whose sums fit into 32 bits
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffffU) + (sum >> 16U); };
  std::size_t words = count / 2;
  while (words > 0) {
    const std::size_t now = std::min(words, most_words);
    words -= now;
    for (std::size_t i = 0; i < now; ++i, bytes += 2) {
      low += number(bytes[0]) << 8U | number(bytes[1]);
      high += low;
    }
    low = fold(low);
    high = fold(high);
  }
  if (count % 2 != 0) {
    low += number(*bytes) << 8U;
    high += low;
    low = fold(low);
    high = fold(high);
  }
  return fold(high) << 16U | fold(low);
}

/// Takes the checksum off its end. False where it is that of other bytes.
bool check(Bytes& bytes) {
  if (bytes.size() < checksum_bytes) return false;
  const std::size_t count = bytes.size() - checksum_bytes;
  std::uint32_t promised = 0;
  for (std::size_t i = 0; i < checksum_bytes; ++i) promised |= number(bytes[count + i]) << (8U * i);
  if (fletcher32(bytes.data(), count) != promised) return false;
  bytes.resize(count);
  return true;
}

/// False where they come to more than `most` bytes, or are not packed as they should be.
bool inflate(Bytes& bytes, std::size_t most) {
  if (bytes.size() > std::numeric_limits<uInt>::max() || most > std::numeric_limits<uInt>::max()) return false;
  Bytes unpacked(most);
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(unpacked.data());
  stream.avail_out = static_cast<uInt>(most);
  if (inflateInit(&stream) != Z_OK) return false;
  const int end = ::inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  unpacked.resize(most - stream.avail_out);
  bytes = std::move(unpacked);
  return end == Z_STREAM_END;
}

/// First all first bytes of the elements were written, then all second ones; what is no whole element stands
/// behind.
void unshuffle(Bytes& bytes, std::size_t width) {
  const std::size_t elements = width > 0 ? bytes.size() / width : 0;
  if (width <= 1 || elements <= 1) return;
  Bytes sorted(bytes.size());
  for (std::size_t i = 0; i < width; ++i) {
    const std::byte* from = bytes.data() + i * elements;
    for (std::size_t k = 0; k < elements; ++k) sorted[k * width + i] = from[k];
  }
  const auto whole = static_cast<std::ptrdiff_t>(elements * width);
  std::copy(bytes.begin() + whole, bytes.end(), sorted.begin() + whole);
  bytes = std::move(sorted);
}

}  // namespace

std::optional<Bytes> undo_filters(const ChunkFilters& filters, std::uint32_t mask, Bytes stored,
                                  std::size_t wanted) {
  const std::size_t most = wanted + checksum_bytes * filters.size();
  for (std::size_t i = filters.size(); i-- > 0;) {
    if ((mask >> i & 1U) != 0) continue;
    switch (filters[i].kind) {
      case ChunkFilter::Kind::deflate:
        if (!inflate(stored, most)) return {};
        break;
      case ChunkFilter::Kind::shuffle:
        unshuffle(stored, filters[i].width);
        break;
      case ChunkFilter::Kind::fletcher32:
        if (!check(stored)) return {};
        break;
    }
  }
  if (stored.size() != wanted) return {};
  return stored;
}

}  // namespace block_eigs
