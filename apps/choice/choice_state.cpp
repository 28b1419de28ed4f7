#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/choice/choice.hpp"

// A choice as numbers, for checkpoints.
namespace block_eigs {

namespace {

constexpr std::size_t fields_of_choice = 10;
constexpr std::size_t fields_of_candidate = 11;

double number(bool value) { return value ? 1.0 : 0.0; }

/// The next candidate of the same kind, taken out of the list: there may be several, which differ in degree or in
/// what they are made of. A new one where there is none, for ways that were added later.
Candidate take_like(std::vector<Candidate>& candidates, const PreconditionerConfig& options,
                    PreconditionerType type, bool filtered, bool dense) {
  const auto same = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
    return candidate.preconditioner.type == type && candidate.filtered == filtered && candidate.dense == dense;
  });
  if (same != candidates.end()) {
    Candidate taken = std::move(*same);
    candidates.erase(same);
    return taken;
  }
  Candidate added;
  added.preconditioner = of_type(options, type);
  added.filtered = filtered;
  added.dense = dense;
  added.reason = "the checkpoint goes on with it";
  return added;
}

/// What a candidate was expected to cost where the state was written, in units of the machine here: other ranks,
/// threads or devices have other costs, and ways are compared by those of one machine.
void price(Candidate& candidate, std::span<const double> numbers, double ratio) {
  candidate.cost = ratio * numbers[5];
  candidate.share = numbers[6];
  candidate.least = numbers[7];
  candidate.taken = numbers[8] != 0.0;
  candidate.at_this_rate = ratio * numbers[9];
  candidate.cost_with_more = ratio * numbers[10];
}

}  // namespace

std::vector<double> chosen_numbers(const PreconditionerConfig& config) {
  return {static_cast<double>(config.type), config.amg.shift, number(config.direct.shift.has_value()),
          config.direct.shift.value_or(0.0)};
}

PreconditionerConfig with_chosen(const PreconditionerConfig& like, std::span<const double> numbers) {
  if (numbers.size() < chosen_count) return like;
  PreconditionerConfig config = of_type(like, static_cast<PreconditionerType>(static_cast<int>(numbers[0])));
  config.amg.shift = numbers[1];
  config.direct.shift.reset();
  if (numbers[2] != 0.0) config.direct.shift = numbers[3];
  return config;
}

std::vector<double> Choice::state() const {
  std::vector<double> state{static_cast<double>(at_),
                            static_cast<double>(changes_),
                            number(asked_),
                            number(by_pairs_),
                            converged_before_ ? static_cast<double>(*converged_before_) : -1.0,
                            filtered_,
                            steps_left_,
                            static_cast<double>(candidates_.size()),
                            number(in_float_),
                            foreseen_};
  for (const Candidate& candidate : candidates_) {
    state.insert(state.end(),
                 {static_cast<double>(candidate.preconditioner.type), number(candidate.filtered),
                  number(candidate.dense), candidate.setup, candidate.step, candidate.cost, candidate.share,
                  candidate.least, number(candidate.taken), candidate.at_this_rate, candidate.cost_with_more});
  }
  state.insert(state.end(), progress_.begin(), progress_.end());
  return state;
}

double Choice::resume(std::span<const double> state, const PreconditionerConfig& present) {
  if (state.size() < fields_of_choice) return 1.0;
  const auto count = static_cast<std::size_t>(state[7]);
  const auto at = static_cast<std::size_t>(state[0]);
  if (at >= count || state.size() < fields_of_choice + count * fields_of_candidate) return 1.0;
  const PreconditionerConfig options = candidates_.front().preconditioner;
  const auto numbers_of = [&](std::size_t i) {
    return state.subspan(fields_of_choice + i * fields_of_candidate, fields_of_candidate);
  };
  std::vector<Candidate> candidates;
  double of_steps = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const double> of = numbers_of(i);
    const auto type = static_cast<PreconditionerType>(static_cast<int>(of[0]));
    candidates.push_back(take_like(candidates_, options, type, of[1] != 0.0, of[2] != 0.0));
    Candidate& candidate = candidates.back();
    if (!(candidate.step > 0.0) || !(of[4] > 0.0)) continue;
    price(candidate, of, candidate.step / of[4]);
    if (of_steps == 0.0 && !candidate.dense) of_steps = candidate.step / of[4];
  }
  if (of_steps == 0.0) of_steps = 1.0;
  // Those that are not among the ways here: factors, which are not asked for again, and what is not wanted any
  // more.
  for (std::size_t i = 0; i < count; ++i) {
    Candidate& candidate = candidates[i];
    if (candidate.step > 0.0) continue;
    const std::span<const double> of = numbers_of(i);
    price(candidate, of, of_steps);
    candidate.setup = of_steps * of[3];
    candidate.step = of_steps * of[4];
    if (candidate.dense && !candidate.taken) candidate.cost = HUGE_VAL;
  }
  candidates_ = std::move(candidates);
  at_ = at;
  current().preconditioner.amg.shift = present.amg.shift;
  current().preconditioner.direct.shift = present.direct.shift;
  changes_ = static_cast<int>(state[1]);
  asked_ = state[2] != 0.0;
  by_pairs_ = state[3] != 0.0;
  converged_before_.reset();
  if (state[4] >= 0.0) converged_before_ = static_cast<int>(state[4]);
  filtered_ = state[5];
  steps_left_ = state[6];
  in_float_ = state[8] != 0.0;
  foreseen_ = state[9];
  const auto progress = state.subspan(fields_of_choice + count * fields_of_candidate);
  progress_.assign(progress.begin(), progress.end());
  return of_steps;
}

}  // namespace block_eigs
