#pragma once

#include <type_traits>

#include "spmm/device/kernels.hpp"
#include "spmm/types.hpp"

namespace block_eigs::host {

/// Columns come in groups of so many, one after the other from a multiple of it on, and rows have entries in all
/// of a group or in none: interpolation has one column for each vector of the near-null space of an aggregate.
template <int Width>
using GroupWidth = std::integral_constant<int, Width>;

/// The widest groups, of 6, 3 or 2, that the columns of `a` come in; 1 where there are none.
int group_width(const CsrView<double>& a);

/// Calls work(GroupWidth) for what group_width() says.
template <class Work>
auto with_group_width(const CsrView<double>& a, const Work& work) {
  switch (group_width(a)) {
    case 6:
      return work(GroupWidth<6>{});
    case 3:
      return work(GroupWidth<3>{});
    case 2:
      return work(GroupWidth<2>{});
    default:
      return work(GroupWidth<1>{});
  }
}

}  // namespace block_eigs::host
