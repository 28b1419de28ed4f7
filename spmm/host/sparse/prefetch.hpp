#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "spmm/host/dense/mirror.hpp"
#include "spmm/host/runtime/threads.hpp"
#include "spmm/types.hpp"

namespace block_eigs::host {

/// Where a kernel that works on one tile of rows fetches the next tile from, a little with every step: fetched at
/// once, the lines queue up and the arithmetic waits; left to the processor, several streams of short rows are
/// noticed too late.
struct Prefetch {
  const char* next = nullptr;
  std::ptrdiff_t step = 0;  ///< bytes; more than a cache line leaves lines out

  [[gnu::always_inline]] void advance() {
    __builtin_prefetch(next);
    next += step;
  }
};

/// Deals the fetching of tiles to the kernel calls that work on the tile before.
template <class T>
class PrefetchPlan {
 public:
  void clear() { views_.clear(); }

  /// A block that will be read or written, once where it is named twice. A few columns of wide rows are left to
  /// the processor.
  void add(ConstBlockView<T> view) {
    const auto is_same = [&](ConstBlockView<T> other) { return same(view, other); };
    const bool known = std::any_of(views_.begin(), views_.end(), is_same);
    if (!known && 2 * view.cols > view.stride) views_.push_back(view);
  }

  /// Tiles have `rows` rows and are worked on in `calls` calls of `steps` steps each.
  void deal(std::ptrdiff_t rows, std::ptrdiff_t calls, std::ptrdiff_t steps) {
    shares_.assign(static_cast<std::size_t>(calls), {});
    const auto count = static_cast<int>(views_.size());
    for (int i = 0; i < count; ++i) {
      const ConstBlockView<T>& view = views_[static_cast<std::size_t>(i)];
      const Range own = part_of(calls, i, count);
      const std::ptrdiff_t row_bytes = view.stride * static_cast<std::ptrdiff_t>(sizeof(T));
      for (std::int64_t call = own.begin; call < own.end; ++call) {
        const std::ptrdiff_t bytes = rows * row_bytes / (own.end - own.begin);
        shares_[static_cast<std::size_t>(call)] = {
            reinterpret_cast<const char*>(view.data) + (call - own.begin) * bytes, row_bytes,
            (bytes + steps - 1) / steps};
      }
    }
  }

  /// The share of `call` in fetching the tile that begins at `row`.
  Prefetch operator()(std::size_t call, std::ptrdiff_t row) const {
    const Share& share = shares_[call];
    if (share.row_bytes == 0) return {};
    return {share.first + row * share.row_bytes, share.step};
  }

 private:
  struct Share {
    const char* first = nullptr;
    std::ptrdiff_t row_bytes = 0;
    std::ptrdiff_t step = 0;
  };

  std::vector<ConstBlockView<T>> views_;
  std::vector<Share> shares_;
};

}  // namespace block_eigs::host
