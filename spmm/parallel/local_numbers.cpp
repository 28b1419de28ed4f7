#include "spmm/parallel/local_numbers.hpp"

#include <fmt/format.h>

#include <limits>

#include "spmm/error.hpp"

namespace block_eigs {

void require_local_numbers(GlobalIndex own, GlobalIndex ghosts, int rank, int ranks) {
  constexpr GlobalIndex most = std::numeric_limits<LocalIndex>::max();
  if (own + ghosts <= most) return;
  const GlobalIndex ranks_in_place_of_one = (own + ghosts - 1) / most + 1;
  const auto others = ghosts > 0 ? fmt::format(" beside {} rows of other ranks", ghosts) : "";
  throw InputError(
      fmt::format("rank {} of {} would own {} rows{}, local numbers count to {}; use {} ranks or more", rank,
                  ranks, own, others, most, ranks_in_place_of_one * ranks));
}

}  // namespace block_eigs
