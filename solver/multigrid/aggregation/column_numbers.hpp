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
    std::sort(ghosts_.begin(), ghosts_.end());
    ghosts_.erase(std::unique(ghosts_.begin(), ghosts_.end()), ghosts_.end());
  }

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

 private:
  GlobalIndex begin_ = 0;
  LocalIndex own_ = 0;
  std::vector<GlobalIndex> ghosts_;
};

}  // namespace block_eigs::aggregation
