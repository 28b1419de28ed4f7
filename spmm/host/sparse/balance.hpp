#pragma once

#include <cstdint>
#include <vector>

#include "spmm/types.hpp"

// Who works on which nonzeros, apart from what is done with them.
namespace block_eigs::host {

/// A point on the way through a sparse matrix, row after row: rows before `row` are done, and of `row` the
/// nonzeros before `nonzero`.
struct Position {
  LocalIndex row = 0;
  Offset nonzero = 0;
};

/// Cuts the way through a matrix of `rows` rows into `shares` parts of about equal work, a row costing its
/// nonzeros plus one (the merge path of Merrill and Garland, 2016). Share s goes from result[s] to result[s + 1].
/// Cuts fall between rows; within a row only where it has more than `longest_whole_row` nonzeros. With 0 that is
/// everywhere, and shares differ by at most one unit of work: the merge-based split of Yang, Buluç, Owens (2018).
std::vector<Position> balance(const Offset* row_offsets, LocalIndex rows, int shares, Offset longest_whole_row);

/// Number of shares for `work` = rows + nonzeros: enough that every thread has some, each small enough that the
/// caller gets to move messages along in between, and none so small that starting it shows.
int share_count(std::int64_t work, int threads);

}  // namespace block_eigs::host
