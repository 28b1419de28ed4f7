#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace block_eigs {

/// What HDF5's own filters do to the bytes of a chunk when it is written.
struct ChunkFilter {
  enum class Kind { deflate, shuffle, fletcher32 };
  Kind kind = Kind::deflate;
  std::size_t width = 1;  ///< bytes of an element, of `shuffle`
};

/// The filters of a dataset, in the order in which they were applied.
using ChunkFilters = std::vector<ChunkFilter>;

/// A chunk of `wanted` bytes of what the file holds of it, `stored`, which is used up. Filter i was left out where
/// bit i of `mask` is set. Nothing where that cannot be: damaged, longer or shorter, or of another checksum. Any
/// number of threads at once.
std::optional<std::vector<std::byte>> undo_filters(const ChunkFilters& filters, std::uint32_t mask,
                                                   std::vector<std::byte> stored, std::size_t wanted);

}  // namespace block_eigs
