#pragma once

#include <cstddef>

namespace block_eigs::lapack {

/// Threads that the BLAS below LAPACK will use: those of OpenBLAS, 1 where it is another.
int blas_threads();

/// Whether the same call gives the same bits each time, with numbers at the same place in a cache line. MKL may
/// take fewer threads when it likes (MKL_DYNAMIC), and then adds in another order.
bool keeps_order_of_sums();

/// Address space that OpenBLAS takes for each of its threads, when it has its first work.
inline constexpr std::size_t blas_buffer_bytes = std::size_t{128} << 20;

/// Lets OpenBLAS take its work buffer now, where memory that lacks can still be told: it tries again for ever when
/// it gets none (blas_memory_alloc), and a LAPACK call in the middle of a run would never return. Buffers are not
/// given back, so that later calls of the same thread need none. Threads that OpenBLAS has of its own take theirs
/// when they start, which is before main(): see blas_threads. Throws RunError where there is no room. Not
/// collective.
void reserve_buffers();

}  // namespace block_eigs::lapack
