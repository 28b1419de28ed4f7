#include "solver/block_cg/bcgrq_collected.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "solver/block_cg/block_cg_checkpoint.hpp"

namespace block_eigs::bcgrq {

namespace {

/// Of a state, in place of the first right-hand side of the block at work.
constexpr double nothing_at_work = -1.0;

}  // namespace

template <class T>
void count_done(Collected<T>& collected) {
  const std::vector<Outcome>& outcomes = collected.result.outcomes;
  collected.done =
      static_cast<int>(outcomes.size() - static_cast<std::size_t>(std::count(outcomes.begin(), outcomes.end(),
                                                                             Outcome::not_converged)));
}

template <class T>
void save_others(Collected<T>& collected, SavedState& state) {
  collected.saved = collected.result.total_iterations;
  save_result(collected.result, state);
  // X at work is mostly that of the result itself.
  const ConstBlockView<T> solution = std::as_const(collected.result.solution).view();
  std::erase_if(state.blocks, [&](const SavedBlock& block) {
    const auto* x = std::get_if<ConstBlockView<T>>(&block.rows);
    return block.name == "x" && x != nullptr && x->data == solution.data && x->cols == solution.cols;
  });
  state.numbers["first"] = {static_cast<double>(collected.first)};
}

template <class T>
void save_end(Collected<T>& collected, const Budget& budget) {
  const BlockCgResult<T>& result = collected.result;
  const bool used_up = result.findings.end == BlockCgEnd::out_of_iterations;
  if (collected.listeners.checkpoint == nullptr || !used_up || result.total_iterations == collected.saved) return;
  SavedState state;
  save_others(collected, state);
  state.numbers["first"] = {nothing_at_work};
  state.numbers["seconds"] = {budget.seconds()};
  collected.listeners.checkpoint->write(state);
}

template <class T>
bool resume_result(BlockSpace<T>& space, Collected<T>& collected, Budget::Clock::time_point& began) {
  Checkpoint& checkpoint = *collected.listeners.checkpoint;
  const SavedNumbers& numbers = *checkpoint.saved();
  BlockCgResult<T>& result = collected.result;
  read_result(space, checkpoint, result);
  // There may be more iterations now, and time.
  if (result.findings.end == BlockCgEnd::out_of_iterations || result.findings.end == BlockCgEnd::stopped)
    result.findings.end = BlockCgEnd::solved;
  count_done(collected);
  collected.saved = result.total_iterations;
  result.setup_seconds = numbers.number("setup_seconds") + Budget(0, began).seconds();
  const std::chrono::duration<double> before(numbers.number("seconds"));
  began -= std::chrono::duration_cast<Budget::Clock::duration>(before);
  const double first = numbers.number("first");
  if (first == nothing_at_work) {
    checkpoint.taken();
    return false;
  }
  collected.first = static_cast<std::size_t>(first);
  return true;
}

template void count_done(Collected<float>&);
template void count_done(Collected<double>&);
template void save_others(Collected<float>&, SavedState&);
template void save_others(Collected<double>&, SavedState&);
template void save_end(Collected<float>&, const Budget&);
template void save_end(Collected<double>&, const Budget&);
template bool resume_result(BlockSpace<float>&, Collected<float>&, Budget::Clock::time_point&);
template bool resume_result(BlockSpace<double>&, Collected<double>&, Budget::Clock::time_point&);

}  // namespace block_eigs::bcgrq
