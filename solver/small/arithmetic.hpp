#pragma once

#include <cstdint>
#include <span>

namespace block_eigs {

/// A digest of bits, going on from `before` (FNV-1a, a word at a time).
std::uint64_t digest_of(std::span<const double> values, std::uint64_t before);

/// What the bits of small dense problems depend on: the type of this processor, the threads of BLAS, and the bits
/// of a few such problems, so that another library shows. The same in all processes that get the same bits; 0
/// where even one process need not get the same bits twice. Not collective; throws std::bad_alloc.
std::uint64_t arithmetic_digest();

}  // namespace block_eigs
