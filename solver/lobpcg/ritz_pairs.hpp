#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "solver/lobpcg/residual_test.hpp"

namespace block_eigs {

/// Numbers of some Ritz pairs, one entry a pair in each list; see RitzPair.
struct RitzPairs {
  std::vector<double> values;
  std::vector<double> residuals;
  std::vector<double> image_norms;
  std::vector<double> norms;
  std::vector<double> a_sizes;
  std::vector<double> b_sizes;
  std::vector<double> moves;
  std::vector<double> probed;  ///< the residual when the sizes were estimated last; infinite where they are bounds

  int count() const { return static_cast<int>(values.size()); }

  RitzPair pair(int j) const {
    const auto i = static_cast<std::size_t>(j);
    return {values[i], residuals[i], image_norms[i], norms[i], a_sizes[i], b_sizes[i], moves[i]};
  }
  Outcome judge(const ResidualTest& test, int j) const { return test.judge(pair(j)); }
  /// The largest residual that is done.
  double enough(const ResidualTest& test, int j) const { return test.enough(pair(j)); }
  /// Residual over what would do; 1 or less is done.
  double ratio(const ResidualTest& test, int j) const { return test.ratio(pair(j)); }

  void append(const RitzPairs& more) {
    for (const auto list : lists)
      (this->*list).insert((this->*list).end(), (more.*list).begin(), (more.*list).end());
  }
  /// Pairs order[0], order[1] and so on.
  RitzPairs in_order(const std::vector<int>& order) const {
    RitzPairs sorted;
    for (const auto list : lists) {
      for (const int i : order) (sorted.*list).push_back((this->*list)[static_cast<std::size_t>(i)]);
    }
    return sorted;
  }
  /// The leading `count` pairs, which leave.
  RitzPairs take_leading(int count) {
    RitzPairs taken;
    for (const auto list : lists) {
      std::vector<double>& from = this->*list;
      (taken.*list).assign(from.begin(), from.begin() + count);
      from.erase(from.begin(), from.begin() + count);
    }
    return taken;
  }

 private:
  using List = std::vector<double> RitzPairs::*;
  static const std::array<List, 8> lists;
};

inline const std::array<RitzPairs::List, 8> RitzPairs::lists{
    &RitzPairs::values,  &RitzPairs::residuals, &RitzPairs::image_norms, &RitzPairs::norms,
    &RitzPairs::a_sizes, &RitzPairs::b_sizes,   &RitzPairs::moves,       &RitzPairs::probed};

}  // namespace block_eigs
