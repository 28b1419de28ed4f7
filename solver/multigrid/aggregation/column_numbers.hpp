#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <iterator>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "spmm/types.hpp"

namespace block_eigs::aggregation {

/// Local numbers of global rows: own ones first, then those of other ranks that occur here.
class ColumnNumbers {
 public:
  ColumnNumbers() = default;
  /// `others` in any order, repeated or not; own ones among them are left out.
  ColumnNumbers(GlobalIndex begin, LocalIndex own, const std::vector<GlobalIndex>& others)
      : begin_(begin), own_(own) {
    find_ghosts(others, {});
  }
  /// Those of `known`, and `more` in any order.
  ColumnNumbers(const ColumnNumbers& known, std::span<const GlobalIndex> more)
      : begin_(known.begin_), own_(known.own_) {
    find_ghosts(known.ghosts_, more);
  }

  GlobalIndex begin() const { return begin_; }
  LocalIndex own() const { return own_; }
  LocalIndex all() const { return own_ + static_cast<LocalIndex>(ghosts_.size()); }
  const std::vector<GlobalIndex>& ghosts() const { return ghosts_; }
  bool is_own(GlobalIndex global) const { return global >= begin_ && global < end(); }
  /// Of one that occurs here: no other number has a place.
  LocalIndex local(GlobalIndex global) const {
    if (is_own(global)) return static_cast<LocalIndex>(global - begin_);
    const auto after = std::upper_bound(runs_.begin(), runs_.end(), global,
                                        [](GlobalIndex number, const Run& run) { return number < run.first; });
    assert(after != runs_.begin());
    const Run& run = *std::prev(after);
    assert(global - run.first < (after == runs_.end() ? all() : after->local) - run.local);
    return run.local + static_cast<LocalIndex>(global - run.first);
  }
  GlobalIndex global(LocalIndex local) const {
    return local < own_ ? begin_ + local : ghosts_[static_cast<std::size_t>(local - own_)];
  }

  bool operator==(const ColumnNumbers& other) const {
    return begin_ == other.begin_ && own_ == other.own_ && ghosts_ == other.ghosts_;
  }

 private:
  /// Numbers that follow one another, of which there are many where ranks have layers of a grid.
  struct Run {
    GlobalIndex first = 0;
    LocalIndex local = 0;
  };
  /// Numbers before the own ones, or behind them.
  struct Side {
    GlobalIndex least = std::numeric_limits<GlobalIndex>::max();
    GlobalIndex most = std::numeric_limits<GlobalIndex>::min();
    std::size_t count = 0;

    void add(GlobalIndex number) {
      least = std::min(least, number);
      most = std::max(most, number);
      ++count;
    }
    bool has(GlobalIndex number) const { return number >= least && number <= most; }
  };

  GlobalIndex end() const { return begin_ + own_; }

  void find_ghosts(std::span<const GlobalIndex> some, std::span<const GlobalIndex> more) {
    Side below, above;
    for (const std::span<const GlobalIndex> numbers : {some, more}) {
      for (const GlobalIndex number : numbers) {
        if (number < begin_) below.add(number);
        if (number >= end()) above.add(number);
      }
    }
    for (const Side& side : {below, above}) {
      if (side.count > 0) append_sorted(side, some, more);
    }
    for (std::size_t g = 0; g < ghosts_.size(); ++g) {
      if (g == 0 || ghosts_[g] != ghosts_[g - 1] + 1)
        runs_.push_back({ghosts_[g], own_ + static_cast<LocalIndex>(g)});
    }
  }

  /// Those of a side, once each. Many numbers of a narrow range are marked in it instead of compared.
  void append_sorted(const Side& side, std::span<const GlobalIndex> some, std::span<const GlobalIndex> more) {
    const auto range = static_cast<std::size_t>(side.most - side.least) + 1;
    if (range / 8 > side.count) {
      const auto before = static_cast<std::ptrdiff_t>(ghosts_.size());
      for (const std::span<const GlobalIndex> numbers : {some, more})
        std::copy_if(numbers.begin(), numbers.end(), std::back_inserter(ghosts_),
                     [&](GlobalIndex number) { return side.has(number); });
      std::sort(ghosts_.begin() + before, ghosts_.end());
      ghosts_.erase(std::unique(ghosts_.begin() + before, ghosts_.end()), ghosts_.end());
      return;
    }
    std::vector<char> occurs(range, 0);
    for (const std::span<const GlobalIndex> numbers : {some, more}) {
      for (const GlobalIndex number : numbers) {
        if (side.has(number)) occurs[static_cast<std::size_t>(number - side.least)] = 1;
      }
    }
    for (std::size_t n = 0; n < range; ++n) {
      if (occurs[n] != 0) ghosts_.push_back(side.least + static_cast<GlobalIndex>(n));
    }
  }

  GlobalIndex begin_ = 0;
  LocalIndex own_ = 0;
  std::vector<GlobalIndex> ghosts_;
  std::vector<Run> runs_;
};

}  // namespace block_eigs::aggregation
