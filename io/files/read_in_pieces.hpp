#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace block_eigs {

/// Bytes that a thread has at hand at a time while it reads and converts.
inline constexpr std::int64_t piece_bytes = std::int64_t{1} << 20;

/// Calls read(begin, end) for consecutive ranges of the elements 0 .. count - 1, each at most piece_bytes of
/// `width` bytes an element, by several threads at once. Throws the first exception of any of them. Not
/// collective.
void read_in_pieces(std::int64_t count, std::int64_t width,
                    const std::function<void(std::int64_t begin, std::int64_t end)>& read);

}  // namespace block_eigs
