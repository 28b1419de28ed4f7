#include <utility>

#include "apps/choice/eigensolver_choice.hpp"

// The choice as numbers, for checkpoints.
namespace block_eigs {

namespace {

constexpr std::size_t fields_of_state = 4;

}  // namespace

std::vector<double> EigensolverChoice::state() const {
  // Of the narrower block, what was chosen there comes before the state of its choice.
  std::vector<double> narrower;
  if (narrower_) {
    narrower = chosen_numbers(narrower_->choice.current().preconditioner);
    const std::vector<double> choice = narrower_->choice.state();
    narrower.insert(narrower.end(), choice.begin(), choice.end());
  }
  const double may_widen = may_widen_ ? 1.0 : 0.0;
  std::vector<double> state{may_widen + (was_dense() ? 2.0 : 0.0), static_cast<double>(grown_.size()),
                            static_cast<double>(narrower.size()), spent_};
  const std::vector<double> choice = choice_.state();
  for (const std::vector<double>* list : {&std::as_const(grown_), &std::as_const(narrower), &choice})
    state.insert(state.end(), list->begin(), list->end());
  return state;
}

void EigensolverChoice::resume(std::span<const double> state, const EigensolverConfig& present) {
  while (asked_.options.block_size < present.options.block_size && fits_wider()) widen();
  if (asked_.options.block_size != present.options.block_size || state.size() < fields_of_state) return;
  const auto grown = static_cast<std::size_t>(state[1]);
  const auto narrower = static_cast<std::size_t>(state[2]);
  if (grown > state.size() || narrower > state.size() || state.size() < fields_of_state + grown + narrower) return;
  may_widen_ = state[0] == 1.0 || state[0] == 3.0;
  was_dense_ = state[0] >= 2.0;
  const double spent = state[3];
  state = state.subspan(fields_of_state);
  grown_.assign(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(grown));
  state = state.subspan(grown);
  if (narrower_ && narrower >= chosen_count) {
    Choice& before = narrower_->choice;
    before.resume(state.subspan(chosen_count, narrower - chosen_count),
                  with_chosen(before.current().preconditioner, state));
  }
  spent_ = spent * choice_.resume(state.subspan(narrower), present.preconditioner);
}

}  // namespace block_eigs
