#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spmm/scatter_bits.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// Numbers 0, 1, ... for keys of any size, in the order in which they first come. What it costs goes with the keys
/// that came since it was last cleared.
class KeyNumbers {
 public:
  /// That of `key`, a new one if it has none.
  std::size_t number(GlobalIndex key) {
    if (2 * (keys_.size() + 1) > slots_.size()) grow();
    const std::size_t slot = slot_of(key);
    if (slots_[slot] < 0) {
      slots_[slot] = static_cast<std::int64_t>(keys_.size());
      keys_.push_back(key);
    }
    return static_cast<std::size_t>(slots_[slot]);
  }

  /// By their numbers.
  const std::vector<GlobalIndex>& keys() const { return keys_; }
  std::size_t size() const { return keys_.size(); }

  void clear() {
    // Last come, first gone: those that were put behind others on their way are found until then.
    for (auto key = keys_.rbegin(); key != keys_.rend(); ++key) slots_[slot_of(*key)] = -1;
    keys_.clear();
  }

 private:
  std::size_t slot_of(GlobalIndex key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = scatter_bits(static_cast<std::uint64_t>(key)) & mask;
    while (slots_[slot] >= 0 && keys_[static_cast<std::size_t>(slots_[slot])] != key) slot = (slot + 1) & mask;
    return slot;
  }

  void grow() {
    slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), -1);
    for (std::size_t k = 0; k < keys_.size(); ++k) slots_[slot_of(keys_[k])] = static_cast<std::int64_t>(k);
  }

  std::vector<GlobalIndex> keys_;
  std::vector<std::int64_t> slots_;  ///< numbers, -1 where there is none; a power of two of them
};

/// Sums by key.
class Tally {
 public:
  void add(GlobalIndex key, Offset weight) {
    const std::size_t number = numbers_.number(key);
    if (number == sums_.size()) sums_.push_back(0);
    sums_[number] += weight;
  }
  const std::vector<GlobalIndex>& keys() const { return numbers_.keys(); }
  const std::vector<Offset>& sums() const { return sums_; }
  void clear() {
    numbers_.clear();
    sums_.clear();
  }

 private:
  KeyNumbers numbers_;
  std::vector<Offset> sums_;
};

}  // namespace block_eigs
