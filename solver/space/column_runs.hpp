#pragma once

#include <cstddef>
#include <span>

#include "spmm/types.hpp"

namespace block_eigs {

/// Calls function(first, at, count) for each run of columns that follow one another, columns[at + k] = first + k
/// for k < count: neighbours are copied together, since one column moves whole cache lines.
template <class Function>
void for_each_run(std::span<const LocalIndex> columns, const Function& function) {
  for (std::size_t at = 0, next = 0; at < columns.size(); at = next) {
    while (next < columns.size() && columns[next] - columns[at] == static_cast<LocalIndex>(next - at)) ++next;
    function(columns[at], static_cast<LocalIndex>(at), static_cast<LocalIndex>(next - at));
  }
}

}  // namespace block_eigs
