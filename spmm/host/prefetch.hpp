#pragma once

#include <cstddef>

namespace block_eigs::host {

/// Where a kernel that works on one tile of rows fetches the next tile from, a little with every row: fetched at
/// once, the lines queue up and the arithmetic waits; left to the processor, several streams of short rows are
/// noticed too late.
struct Prefetch {
  const char* next = nullptr;
  std::ptrdiff_t step = 0;  ///< bytes a row; at most a cache line, else lines are left out

  [[gnu::always_inline]] void advance() {
    __builtin_prefetch(next);
    next += step;
  }
};

}  // namespace block_eigs::host
