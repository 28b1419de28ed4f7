#pragma once

#include <cstddef>
#include <vector>

#include "solver/lobpcg/residual_test.hpp"

namespace block_eigs {

/// Numbers of some Ritz pairs, one entry a pair in each list.
struct RitzPairs {
  std::vector<double> values;
  std::vector<double> residuals;    ///< ||A x - lambda B x||
  std::vector<double> image_norms;  ///< ||B x||, 1 where B is the identity
  std::vector<double> norms;        ///< ||x||
  std::vector<double> moves;        ///< by how much the last step changed the value; infinite where it is new

  int count() const { return static_cast<int>(values.size()); }

  Outcome judge(const ResidualTest& test, int j) const {
    const auto i = static_cast<std::size_t>(j);
    return test.judge(values[i], residuals[i], image_norms[i], norms[i]);
  }
  bool within(double share, double most, const ResidualTest& test, int j) const {
    const auto i = static_cast<std::size_t>(j);
    return test.within(share, most, values[i], residuals[i], image_norms[i], norms[i], moves[i]);
  }
  /// The largest residual that is done.
  double enough(const ResidualTest& test, int j) const {
    const auto i = static_cast<std::size_t>(j);
    return test.enough(values[i], image_norms[i], norms[i]);
  }
  /// Residual over what would do; 1 or less is done.
  double ratio(const ResidualTest& test, int j) const {
    const auto i = static_cast<std::size_t>(j);
    return test.ratio(values[i], residuals[i], image_norms[i], norms[i]);
  }

  void append(const RitzPairs& more) {
    const auto add = [](std::vector<double>& to, const std::vector<double>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    add(values, more.values), add(residuals, more.residuals);
    add(image_norms, more.image_norms), add(norms, more.norms);
    add(moves, more.moves);
  }
  /// Pairs order[0], order[1] and so on.
  RitzPairs in_order(const std::vector<int>& order) const {
    RitzPairs sorted;
    for (const int i : order) {
      const auto j = static_cast<std::size_t>(i);
      sorted.append({{values[j]}, {residuals[j]}, {image_norms[j]}, {norms[j]}, {moves[j]}});
    }
    return sorted;
  }
  /// The leading `count` pairs, which leave.
  RitzPairs take_leading(int count) {
    RitzPairs taken;
    const auto move = [&](std::vector<double>& from, std::vector<double>& to) {
      to.assign(from.begin(), from.begin() + count);
      from.erase(from.begin(), from.begin() + count);
    };
    move(values, taken.values), move(residuals, taken.residuals);
    move(image_norms, taken.image_norms), move(norms, taken.norms);
    move(moves, taken.moves);
    return taken;
  }
};

}  // namespace block_eigs
