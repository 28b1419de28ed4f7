#include "apps/input/lanczos_options.hpp"

#include <algorithm>
#include <limits>

namespace block_eigs {

namespace {

/// Columns solved for, before LOBPCG goes on: several times as many as it takes as a rule.
int most_solves(int pairs) {
  constexpr int least = 500;
  constexpr int of_pair = 30;
  return least + of_pair * std::min(pairs, std::numeric_limits<int>::max() / (2 * of_pair));
}

}  // namespace

// Steps and iterations of LOBPCG, which follow where these do not do, come to max_iterations.
LanczosOptions lanczos_options(const LobpcgOptions& options) {
  return {.pairs = options.pairs,
          .columns = std::max(block_width(options), options.pairs),
          .most_steps = options.max_iterations / 2,
          .most_solves = most_solves(options.pairs),
          .seed = options.seed};
}

bool starts_by_lanczos(const LobpcgOptions& options, GlobalIndex dimension) {
  const LanczosOptions lanczos = lanczos_options(options);
  return lanczos.most_steps > 0 && lanczos_fits(lanczos, dimension);
}

}  // namespace block_eigs
