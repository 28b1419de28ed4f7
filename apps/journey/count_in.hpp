#pragma once

#include <iterator>

#include "solver/lobpcg/lobpcg.hpp"

namespace block_eigs {

/// Adds iterations, times and history of `next`, which goes along, to those of all solves before it.
template <class T>
void add_counts(EigenResult<T>& next, EigenResult<T>& all) {
  for (LobpcgIteration& entry : next.history) entry.seconds += all.setup_seconds + all.solve_seconds;
  all.history.insert(all.history.end(), std::make_move_iterator(next.history.begin()),
                     std::make_move_iterator(next.history.end()));
  all.iterations += next.iterations;
  all.setup_seconds += next.setup_seconds;
  all.solve_seconds += next.solve_seconds;
}

/// Iterations, times and history of `result` become those of both solves, `before`, whose history goes along,
/// first.
template <class T>
void count_in(EigenResult<T>& before, EigenResult<T>& result) {
  add_counts(result, before);
  result.history = std::move(before.history);
  result.iterations = before.iterations;
  result.setup_seconds = before.setup_seconds;
  result.solve_seconds = before.solve_seconds;
}

}  // namespace block_eigs
