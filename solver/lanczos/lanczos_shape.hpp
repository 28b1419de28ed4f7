#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "spmm/types.hpp"

// How large the basis of a Lanczos iteration becomes, and what that takes.
namespace block_eigs {

/// What a block Lanczos iteration is to find.
struct LanczosOptions {
  int pairs = 1;                                      ///< wanted: those of the largest values
  int columns = 1;                                    ///< vectors to come back, as many at least
  int most_steps = 500;                               ///< Rayleigh-Ritz steps
  int most_solves = std::numeric_limits<int>::max();  ///< columns multiplied with M
  std::uint64_t seed = 1;                             ///< of the random vectors
};

/// Columns of the basis.
struct LanczosShape {
  int block = 0;     ///< multiplied at a time
  int keep = 0;      ///< left by a restart
  int capacity = 0;  ///< at most
};
LanczosShape lanczos_shape(const LanczosOptions& options);
/// Columns of a block with the random ones that may join it.
inline LocalIndex widest_block(const LanczosShape& shape) { return 4 * shape.block; }
/// Whether a space of so many dimensions has room for it: it would be solved as a whole else.
bool lanczos_fits(const LanczosOptions& options, GlobalIndex dimension);

/// Bytes of what block_lanczos() works with at its peak beside the work space of operators: blocks of so many own
/// rows.
template <class T>
std::size_t lanczos_bytes(LocalIndex rows, const LanczosOptions& options, bool with_b, LocalIndex constraints);
/// The same of its small matrices, on every rank.
std::size_t lanczos_small_bytes(const LanczosOptions& options);

}  // namespace block_eigs
