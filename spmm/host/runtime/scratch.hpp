#pragma once

#include <cstddef>
#include <vector>

namespace block_eigs::host {

/// Working memory of one thread, aligned to cache lines, that grows and never shrinks.
class Scratch {
 public:
  /// `count` elements of T, contents undefined. Ends the life of what was handed out before.
  template <class T>
  T* take(std::size_t count) {
    const std::size_t lines = (count * sizeof(T) + sizeof(Line) - 1) / sizeof(Line);
    if (lines > lines_.size()) lines_.resize(lines);
    return reinterpret_cast<T*>(lines_.data());
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines_;
};

}  // namespace block_eigs::host
