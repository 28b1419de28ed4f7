#pragma once

#include <cstddef>
#include <memory>

namespace block_eigs::host {

/// Working memory of one thread, aligned to cache lines, that grows and never shrinks.
class Scratch {
 public:
  /// Makes room for `count` elements of T and ends the life of what was there. May throw, so it has no place in an
  /// OpenMP region; leaves the memory untouched, so that its pages come to the thread that works in it.
  template <class T>
  void reserve(std::size_t count) {
    const std::size_t lines = (count * sizeof(T) + sizeof(Line) - 1) / sizeof(Line);
    if (lines <= capacity_) return;
    capacity_ = 0;
    lines_.reset();
    lines_ = std::make_unique_for_overwrite<Line[]>(lines);
    capacity_ = lines;
  }
  /// What was reserved.
  template <class T>
  T* take() {
    return reinterpret_cast<T*>(lines_.get());
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::unique_ptr<Line[]> lines_;
  std::size_t capacity_ = 0;
};

}  // namespace block_eigs::host
