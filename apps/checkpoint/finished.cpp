#include "apps/checkpoint/finished.hpp"

#include <algorithm>

#include "solver/block_cg/block_cg_checkpoint.hpp"
#include "solver/lobpcg/lobpcg_checkpoint.hpp"

namespace block_eigs {

namespace {

/// The parts of a config that a choice changes, as numbers; those of the preconditioner that do not depend on its
/// kind are the user's.
std::vector<double> numbers_of(const PreconditionerConfig& config, int block_size) {
  return {static_cast<double>(config.type), static_cast<double>(block_size), config.amg.shift,
          config.direct.shift ? 1.0 : 0.0, config.direct.shift.value_or(0.0)};
}

PreconditionerConfig saved_preconditioner(const PreconditionerConfig& like, const std::vector<double>& numbers) {
  PreconditionerConfig config = of_type(like, static_cast<PreconditionerType>(static_cast<int>(numbers.at(0))));
  config.amg.shift = numbers.at(2);
  config.direct.shift.reset();
  if (numbers.at(3) != 0.0) config.direct.shift = numbers.at(4);
  return config;
}

/// The numbers of a choice and of what it chose; null where the state has none.
struct SavedChoice {
  const std::vector<double>* state = nullptr;
  const std::vector<double>* chosen = nullptr;
};

SavedChoice saved_choice(const Journey& journey) {
  const auto state = journey.numbers.find("choice");
  const auto chosen = journey.numbers.find("chosen");
  if (state == journey.numbers.end() || chosen == journey.numbers.end()) return {};
  return {&state->second, &chosen->second};
}

bool all_done(const std::vector<Outcome>& outcomes) {
  return std::none_of(outcomes.begin(), outcomes.end(),
                      [](Outcome outcome) { return outcome == Outcome::not_converged; });
}

}  // namespace

template <class T>
Journey earlier(const EigenResult<T>& before) {
  Journey journey;
  journey.numbers["earlier"] = {static_cast<double>(before.iterations), before.setup_seconds,
                                before.solve_seconds};
  save_history(before.history, "earlier_history", journey.numbers);
  return journey;
}

template <class T>
void read_earlier(const Journey& journey, EigenResult<T>& before) {
  const auto there = journey.numbers.find("earlier");
  if (there == journey.numbers.end()) return;
  before.iterations = static_cast<int>(there->second.at(0));
  before.setup_seconds = there->second.at(1);
  before.solve_seconds = there->second.at(2);
  before.history = saved_history(journey.numbers, "earlier_history");
}

void add_choice(const EigensolverChoice& choice, Journey& journey) {
  journey.numbers["choice"] = choice.state();
  const EigensolverConfig config = choice.config();
  journey.numbers["chosen"] = numbers_of(config.preconditioner, config.options.block_size);
  journey.text = choice.description();
}

void resume_choice(const Journey& journey, EigensolverChoice& choice) {
  const SavedChoice saved = saved_choice(journey);
  if (saved.state == nullptr) return;
  EigensolverConfig present = choice.config();
  present.preconditioner = saved_preconditioner(present.preconditioner, *saved.chosen);
  present.options.block_size = static_cast<int>(saved.chosen->at(1));
  choice.resume(*saved.state, present);
}

void add_choice(const LinearSolverChoice& choice, Journey& journey) {
  journey.numbers["choice"] = choice.state();
  const LinearSolverConfig config = choice.config();
  journey.numbers["chosen"] = numbers_of(config.preconditioner, config.block_size);
  journey.text = choice.description();
}

void resume_choice(const Journey& journey, LinearSolverChoice& choice) {
  const SavedChoice saved = saved_choice(journey);
  if (saved.state == nullptr) return;
  choice.resume(*saved.state, saved_preconditioner(choice.config().preconditioner, *saved.chosen));
}

template <class T>
void write_finished(RunCheckpoint& checkpoint, int pairs, const EigenResult<T>& result) {
  if (static_cast<int>(result.outcomes.size()) != pairs || !all_done(result.outcomes)) return;
  SavedState state;
  SavedNumbers& numbers = state.numbers;
  numbers["finished"] = {1.0};
  numbers["iterations"] = {static_cast<double>(result.iterations)};
  numbers["eigenvalues"] = result.eigenvalues;
  numbers["residual_norms"] = result.residual_norms;
  numbers["error_bounds"] = result.error_bounds;
  for (const Outcome outcome : result.outcomes) numbers["outcomes"].push_back(static_cast<double>(outcome));
  numbers["times"] = {result.setup_seconds, result.solve_seconds};
  save_history(result.history, "history", numbers);
  state.blocks = {{"eigenvectors", result.eigenvectors.view()}};
  checkpoint.write(state);
}

template <class T>
EigenResult<T> read_finished(BlockSpace<T>& space, RunCheckpoint& checkpoint) {
  const SavedNumbers& numbers = *checkpoint.saved();
  EigenResult<T> result;
  result.eigenvalues = numbers.at("eigenvalues");
  result.residual_norms = numbers.at("residual_norms");
  result.error_bounds = numbers.at("error_bounds");
  for (const double outcome : numbers.at("outcomes"))
    result.outcomes.push_back(static_cast<Outcome>(static_cast<int>(outcome)));
  result.iterations = static_cast<int>(numbers.at("iterations").at(0));
  result.setup_seconds = numbers.at("times").at(0);
  result.solve_seconds = numbers.at("times").at(1);
  result.history = saved_history(numbers, "history");
  result.eigenvectors = space.make_block(checkpoint.columns("eigenvectors"));
  checkpoint.read("eigenvectors", result.eigenvectors);
  checkpoint.taken();
  return result;
}

template <class T>
void write_finished(RunCheckpoint& checkpoint, const BlockCgResult<T>& result) {
  if (!all_done(result.outcomes)) return;
  SavedState state;
  state.numbers["finished"] = {1.0};
  state.numbers["times"] = {result.setup_seconds, result.solve_seconds};
  save_result(result, state);
  checkpoint.write(state);
}

template <class T>
void read_finished(BlockSpace<T>& space, RunCheckpoint& checkpoint, BlockCgResult<T>& result) {
  read_result(space, checkpoint, result);
  const std::vector<double>& times = checkpoint.saved()->at("times");
  result.setup_seconds = times.at(0);
  result.solve_seconds = times.at(1);
  checkpoint.taken();
}

template void write_finished(RunCheckpoint&, const BlockCgResult<float>&);
template void write_finished(RunCheckpoint&, const BlockCgResult<double>&);
template void read_finished(BlockSpace<float>&, RunCheckpoint&, BlockCgResult<float>&);
template void read_finished(BlockSpace<double>&, RunCheckpoint&, BlockCgResult<double>&);
template Journey earlier(const EigenResult<float>&);
template Journey earlier(const EigenResult<double>&);
template void read_earlier(const Journey&, EigenResult<float>&);
template void read_earlier(const Journey&, EigenResult<double>&);
template void write_finished(RunCheckpoint&, int, const EigenResult<float>&);
template void write_finished(RunCheckpoint&, int, const EigenResult<double>&);
template EigenResult<float> read_finished(BlockSpace<float>&, RunCheckpoint&);
template EigenResult<double> read_finished(BlockSpace<double>&, RunCheckpoint&);

}  // namespace block_eigs
