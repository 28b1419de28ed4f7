#include "apps/checkpoint/finished.hpp"

#include <algorithm>

#include "solver/block_cg/block_cg_checkpoint.hpp"
#include "solver/lobpcg/lobpcg_checkpoint.hpp"

namespace block_eigs {

namespace {

/// What was chosen, the columns of the block before it, and the state of the choice.
void save_choice(const std::vector<double>& state, const PreconditionerConfig& chosen, int block_size,
                 int max_iterations, const std::string& description, Journey& journey) {
  journey.numbers["choice"] = state;
  journey.numbers["chosen"] = chosen_numbers(chosen);
  journey.numbers["chosen_block_size"] = {static_cast<double>(block_size)};
  journey.numbers["chosen_max_iterations"] = {static_cast<double>(max_iterations)};
  journey.text = description;
}

bool allows_more(const Journey& journey, int max_iterations) {
  return max_iterations > journey.numbers.number("chosen_max_iterations");
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
  if (!journey.numbers.contains("earlier")) return;
  const std::vector<double>& numbers = journey.numbers.at("earlier", 3);
  before.iterations = static_cast<int>(numbers[0]);
  before.setup_seconds = numbers[1];
  before.solve_seconds = numbers[2];
  before.history = saved_history(journey.numbers, "earlier_history");
}

void add_choice(const EigensolverChoice& choice, Journey& journey) {
  const EigensolverConfig config = choice.config();
  save_choice(choice.state(), config.preconditioner, config.options.block_size, choice.max_iterations(),
              choice.description(), journey);
}

bool resume_choice(const Journey& journey, EigensolverChoice& choice) {
  if (!journey.numbers.contains("choice")) return false;
  EigensolverConfig present = choice.config();
  present.preconditioner = with_chosen(present.preconditioner, journey.numbers.at("chosen", chosen_count));
  present.options.block_size = static_cast<int>(journey.numbers.number("chosen_block_size"));
  choice.resume(journey.numbers.at("choice"), present);
  if (allows_more(journey, choice.max_iterations())) choice.allow_more_iterations();
  return true;
}

void add_choice(const LinearSolverChoice& choice, Journey& journey) {
  const LinearSolverConfig config = choice.config();
  save_choice(choice.state(), config.preconditioner, config.block_size, config.max_iterations,
              choice.description(), journey);
}

void resume_choice(const Journey& journey, LinearSolverChoice& choice) {
  if (!journey.numbers.contains("choice")) return;
  choice.resume(journey.numbers.at("choice"),
                with_chosen(choice.config().preconditioner, journey.numbers.at("chosen", chosen_count)));
  if (allows_more(journey, choice.config().max_iterations)) choice.allow_more_iterations();
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
  result.iterations = static_cast<int>(numbers.number("iterations"));
  result.setup_seconds = numbers.number("times", 0);
  result.solve_seconds = numbers.number("times", 1);
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
  const std::vector<double>& times = checkpoint.saved()->at("times", 2);
  result.setup_seconds = times[0];
  result.solve_seconds = times[1];
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
