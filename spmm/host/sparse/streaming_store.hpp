#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// Stores past the caches, where the processor has them.
namespace block_eigs::host {

/// Doubles in a cache line.
inline constexpr std::int64_t line_doubles = 8;

#if defined(__SSE2__)

/// to[i] = from[i] past the caches, for a result that is written once and not read soon; both start at a line.
inline void stream_run(const double* from, std::int64_t count, double* to) {
  std::int64_t i = 0;
  for (; i + line_doubles <= count; i += line_doubles) {
    for (std::int64_t k = i; k < i + line_doubles; k += 2) _mm_stream_pd(to + k, _mm_load_pd(from + k));
  }
  for (; i < count; ++i) to[i] = from[i];
}

/// Before others read what has been written past the caches.
inline void finish_stores() { _mm_sfence(); }

#else

inline void stream_run(const double* from, std::int64_t count, double* to) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(double));
}

inline void finish_stores() {}

#endif

}  // namespace block_eigs::host
