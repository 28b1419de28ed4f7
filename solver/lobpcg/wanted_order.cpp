#include "solver/lobpcg/wanted_order.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace block_eigs {

std::vector<int> wanted_order(const LobpcgOptions& options, const ResidualTest& test, const RitzPairs& all) {
  std::vector<int> order(all.values.size());
  std::iota(order.begin(), order.end(), 0);
  const double sign = options.which == Which::largest ? -1.0 : 1.0;
  const auto before = [&](int i, int j) { return sign * all.pair(i).value < sign * all.pair(j).value; };
  std::stable_sort(order.begin(), order.end(), before);
  const auto wanted_end = order.begin() + std::min<std::ptrdiff_t>(options.pairs, std::ssize(order));
  const auto done = [&](int j) { return all.judge(test, j) != Outcome::not_converged; };
  for (auto wanted = order.begin(); wanted != wanted_end; ++wanted) {
    if (done(*wanted)) continue;
    const RitzPair open = all.pair(*wanted);
    const auto other = std::find_if(wanted_end, order.end(), [&](int j) {
      return done(j) && std::abs(all.pair(j).value - open.value) * open.image_norm <= test.enough(open);
    });
    if (other != order.end()) std::swap(*wanted, *other);
  }
  std::stable_sort(order.begin(), wanted_end, before);
  std::stable_sort(wanted_end, order.end(), before);
  return order;
}

}  // namespace block_eigs
