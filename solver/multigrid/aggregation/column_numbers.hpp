#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "spmm/types.hpp"

namespace block_eigs::aggregation {

/// Local numbers of global rows: own ones first, then those of other ranks that occur here.
class ColumnNumbers {
 public:
  ColumnNumbers() = default;
  /// `others` in any order, repeated or not, none of them own.
  ColumnNumbers(GlobalIndex begin, LocalIndex own, std::vector<GlobalIndex> others)
      : begin_(begin), own_(own), ghosts_(std::move(others)) {
    sort_without_duplicates(ghosts_);
  }

  GlobalIndex begin() const { return begin_; }
  LocalIndex own() const { return own_; }
  LocalIndex all() const { return own_ + static_cast<LocalIndex>(ghosts_.size()); }
  const std::vector<GlobalIndex>& ghosts() const { return ghosts_; }
  bool is_own(GlobalIndex global) const { return global >= begin_ && global < begin_ + own_; }
  LocalIndex local(GlobalIndex global) const {
    if (is_own(global)) return static_cast<LocalIndex>(global - begin_);
    return own_ +
           static_cast<LocalIndex>(std::lower_bound(ghosts_.begin(), ghosts_.end(), global) - ghosts_.begin());
  }
  GlobalIndex global(LocalIndex local) const {
    return local < own_ ? begin_ + local : ghosts_[static_cast<std::size_t>(local - own_)];
  }

  bool operator==(const ColumnNumbers&) const = default;

 private:
  /// Many numbers of a narrow range are marked in it instead of compared.
  static void sort_without_duplicates(std::vector<GlobalIndex>& numbers) {
    if (numbers.empty()) return;
    const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
    const GlobalIndex first = *least;
    const auto range = static_cast<std::size_t>(*most - first) + 1;
    if (range / 8 > numbers.size()) {
      std::sort(numbers.begin(), numbers.end());
      numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
      return;
    }
    std::vector<char> occurs(range, 0);
    for (const GlobalIndex number : numbers) occurs[static_cast<std::size_t>(number - first)] = 1;
    numbers.clear();
    for (std::size_t n = 0; n < range; ++n) {
      if (occurs[n] != 0) numbers.push_back(first + static_cast<GlobalIndex>(n));
    }
  }

  GlobalIndex begin_ = 0;
  LocalIndex own_ = 0;
  std::vector<GlobalIndex> ghosts_;
};

}  // namespace block_eigs::aggregation
