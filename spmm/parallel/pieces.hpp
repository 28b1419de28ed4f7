#pragma once

#include <algorithm>
#include <cstddef>

namespace block_eigs {

/// MPI counts are int: longer messages go in pieces of at most this many elements.
constexpr std::size_t most_a_message = std::size_t{1} << 28;

/// Calls piece(first, size) for consecutive pieces of `count` elements, `size` (int) being at most `most` >= 1.
template <class Piece>
void in_pieces(std::size_t count, const Piece& piece, std::size_t most = most_a_message) {
  for (std::size_t first = 0; first < count; first += most) {
    piece(first, static_cast<int>(std::min(most, count - first)));
  }
}

}  // namespace block_eigs
