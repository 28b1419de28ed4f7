#include "tests/fuzz/deflate.hpp"

#include <zlib.h>

namespace block_eigs::fuzz {

namespace {

constexpr int raw = -MAX_WBITS;
constexpr int gzip = MAX_WBITS + 16;

/// Kept from one input to the next: taking and clearing it anew took most of an input's time.
Bytes& room() {
  static Bytes bytes(std::size_t{1} << 20);
  return bytes;
}

Bytes unpack(Bytes packed, int kind) {
  Bytes& bytes = room();
  z_stream state{};
  if (inflateInit2(&state, kind) != Z_OK) return {};
  state.next_in = packed.data();
  state.avail_in = static_cast<uInt>(packed.size());
  state.next_out = bytes.data();
  state.avail_out = static_cast<uInt>(bytes.size());
  const bool whole = inflate(&state, Z_FINISH) == Z_STREAM_END;
  inflateEnd(&state);
  return {bytes.begin(), whole ? bytes.end() - state.avail_out : bytes.begin()};
}

Bytes pack(Bytes bytes, int kind) {
  z_stream state{};
  if (deflateInit2(&state, 6, Z_DEFLATED, kind, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  Bytes packed(deflateBound(&state, static_cast<uLong>(bytes.size())));
  state.next_in = bytes.data();
  state.avail_in = static_cast<uInt>(bytes.size());
  state.next_out = packed.data();
  state.avail_out = static_cast<uInt>(packed.size());
  deflate(&state, Z_FINISH);
  packed.resize(packed.size() - state.avail_out);
  deflateEnd(&state);
  return packed;
}

}  // namespace

Bytes inflate_raw(const Bytes& packed) { return unpack(packed, raw); }
Bytes deflate_raw(const Bytes& bytes) { return pack(bytes, raw); }
Bytes inflate_gzip(const Bytes& packed) { return unpack(packed, gzip); }
Bytes deflate_gzip(const Bytes& bytes) { return pack(bytes, gzip); }

}  // namespace block_eigs::fuzz
