#pragma once

#include <vector>

#include "tests/device/reference.hpp"

namespace block_eigs::test {

/// Blocks of equal height side by side, on the host and on a device.
template <class T>
class BlockSet {
 public:
  BlockSet(const std::shared_ptr<Device>& device, Random& random, LocalIndex rows,
           const std::vector<LocalIndex>& cols, LocalIndex padding)
      : device_(device) {
    for (const LocalIndex count : cols) add(random_block<T>(random, rows, count, count + padding));
  }

  void add(HostBlock<T> block) {
    there_.emplace_back(device_, block);
    here_.push_back(std::move(block));
  }

  const std::vector<HostBlock<T>>& here() const { return here_; }
  HostBlock<T> download(std::size_t i) const { return there_[i].download(); }
  BlockView<T> view(std::size_t i) { return there_[i].view(); }

  ConstBlockList<T> inputs() { return list<ConstBlockView<T>>(there_.size()); }
  /// The first `count` blocks.
  BlockList<T> outputs(std::size_t count) { return list<BlockView<T>>(count); }

 private:
  template <class View>
  ViewList<View> list(std::size_t count) {
    const auto at = [&](std::size_t i) { return i < count ? View(there_[i].view()) : View{}; };
    return {at(0), at(1), at(2), at(3), at(4), at(5)};
  }

  std::shared_ptr<Device> device_;
  std::vector<HostBlock<T>> here_;
  std::vector<DeviceBlock<T>> there_;
};

/// Rounding of a sum over rows that is blocked in T and finished in double: far below rows * roundoff.
template <class T>
constexpr double sum_factor = sizeof(T) == 4 ? 32.0 : 64.0;

}  // namespace block_eigs::test
