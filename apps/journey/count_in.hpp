#pragma once

#include <iterator>

#include "solver/lobpcg/lobpcg.hpp"

namespace block_eigs {

/// Iterations, times and history of `result` become those of both solves, `before`, whose history goes along,
/// first.
template <class T>
void count_in(EigenResult<T>& before, EigenResult<T>& result) {
  for (LobpcgIteration& entry : result.history) entry.seconds += before.setup_seconds + before.solve_seconds;
  before.history.insert(before.history.end(), std::make_move_iterator(result.history.begin()),
                        std::make_move_iterator(result.history.end()));
  result.history = std::move(before.history);
  result.iterations += before.iterations;
  result.setup_seconds += before.setup_seconds;
  result.solve_seconds += before.solve_seconds;
}

}  // namespace block_eigs
