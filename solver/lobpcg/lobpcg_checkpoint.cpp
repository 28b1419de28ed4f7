#include "solver/lobpcg/lobpcg_checkpoint.hpp"

#include <algorithm>
#include <chrono>
#include <span>

#include "solver/lobpcg/lobpcg_steps.hpp"
#include "solver/require_whole.hpp"

namespace block_eigs {

namespace {

using List = std::vector<double>;

/// Members of RitzPairs under the names that they have in a checkpoint.
struct NamedList {
  const char* name;
  List RitzPairs::*list;
};
constexpr NamedList ritz_lists[] = {
    {"values", &RitzPairs::values}, {"residuals", &RitzPairs::residuals}, {"image_norms", &RitzPairs::image_norms},
    {"norms", &RitzPairs::norms},   {"a_sizes", &RitzPairs::a_sizes},     {"b_sizes", &RitzPairs::b_sizes},
    {"moves", &RitzPairs::moves},   {"probed", &RitzPairs::probed}};

void save(const RitzPairs& pairs, const std::string& name, SavedNumbers& numbers) {
  for (const NamedList& entry : ritz_lists) numbers[name + "_" + entry.name] = pairs.*entry.list;
}

RitzPairs saved_pairs(const SavedNumbers& numbers, const std::string& name) {
  RitzPairs pairs;
  for (const NamedList& entry : ritz_lists) pairs.*entry.list = numbers.at(name + "_" + entry.name);
  return pairs;
}

List numbers_of(const Window& window) {
  return {static_cast<double>(window.width),
          static_cast<double>(window.guard),
          static_cast<double>(window.target),
          window.refills ? 1.0 : 0.0,
          window.lock_share,
          window.one_of_many ? 1.0 : 0.0};
}

Window saved_window(const SavedNumbers& numbers) {
  const List& list = numbers.at("window", 6);
  return {static_cast<int>(list[0]),
          static_cast<int>(list[1]),
          static_cast<int>(list[2]),
          list[3] != 0.0,
          list[4],
          list[5] != 0.0};
}

List numbers_of(const FilterProgress& filters) {
  return {filters.bounds.lower,
          filters.bounds.upper,
          filters.cut,
          filters.worst,
          filters.degrees,
          filters.informed ? 1.0 : 0.0,
          static_cast<double>(filters.locked)};
}

FilterProgress saved_filters(const SavedNumbers& numbers) {
  const List& list = numbers.at("filters", 6);
  return {{list[0], list[1]},
          list[2],
          list[3],
          list[4],
          list[5] != 0.0,
          list.size() > 6 ? static_cast<int>(list[6]) : 0};
}

int integer(const SavedNumbers& numbers, const std::string& name, std::size_t place = 0) {
  return static_cast<int>(numbers.number(name, place));
}

/// Whether it is the state of a phase that another one follows.
bool is_in_float(const SavedNumbers& numbers) { return numbers.number("in_float") != 0.0; }

/// The vectors of a block into the panel, with their images, A's where they are `carried` along.
template <class T>
void read_panel(const LobpcgRun<T>& run, const std::string& name, bool carried, VectorPanel<T>& panel) {
  BlockSpace<T>& space = run.problem.space;
  const LocalIndex count = run.checkpoint->columns(name);
  panel.set_columns(count);
  if (count == 0) return;
  DenseBlock<T> block = space.make_block(count);
  run.checkpoint->read(name, block);
  space.copy(block.view(), panel.v());
  if (carried && run.checkpoint->columns("a" + name) == count) {
    run.checkpoint->read("a" + name, block);
    space.copy(block.view(), panel.a());
  } else if (carried) {
    run.problem.a.apply(panel.v(), panel.a());
  }
  if (run.problem.b != nullptr) run.problem.b->apply(panel.v(), panel.b());
}

template <class T>
void read_locked(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  BlockSpace<T>& space = run.problem.space;
  const LocalIndex count = run.checkpoint->columns("locked");
  if (count == 0) return;
  DenseBlock<T> block = space.make_block(count);
  run.checkpoint->read("locked", block);
  // B is made for as many columns as are at work.
  for (LocalIndex first = 0; first < count; first += state.window.width) {
    const LocalIndex some = std::min<LocalIndex>(state.window.width, count - first);
    state.w.set_columns(some);
    space.copy(block.columns(first, some), state.w.v());
    if (run.problem.b != nullptr) run.problem.b->apply(state.w.v(), state.w.b());
    state.deflated.append(space, state.w.v(), state.w.b());
  }
  state.w.set_columns(0);
}

}  // namespace

template <class T>
void save_if_due(const LobpcgRun<T>& run, const LobpcgState<T>& state, const FilterProgress* filters) {
  if (run.checkpoint == nullptr) return;
  const bool last = run.budget.exhausted() && !run.budget.ended();
  if (!run.checkpoint->due() && !last) return;
  SavedState saved;
  SavedNumbers& numbers = saved.numbers;
  const OperatorNorms& norms = state.test.norms();
  numbers["iterations"] = {static_cast<double>(run.budget.spent())};
  numbers["seconds"] = {run.budget.seconds()};
  numbers["setup_seconds"] = {state.setup_seconds};
  numbers["first_iteration"] = {static_cast<double>(run.first_iteration)};
  numbers["in_float"] = {run.phase.verified ? 0.0 : 1.0};
  numbers["resting_guards"] = {static_cast<double>(run.phase.resting_guards)};
  numbers["window"] = numbers_of(state.window);
  numbers["filters"] = filters != nullptr ? numbers_of(*filters) : List{};
  numbers["norms"] = {norms.a, norms.b, norms.typical_a};
  numbers["rounding"] = {state.rounding.near_tolerance ? 1.0 : 0.0,
                         static_cast<double>(state.rounding.strict_until), state.rounding.amplification};
  const std::span<const double> projected = state.projected_p.values();
  numbers["projected_p"] = List(projected.begin(), projected.end());
  save(state.ritz, "ritz", numbers);
  save(state.locked, "locked", numbers);
  save_history(run.history, "history", numbers);
  // The constraints are the caller's.
  const ConstBlockView<T> deflated = state.deflated.v();
  saved.blocks = {{"x", ConstBlockView<T>(state.x.v())},
                  {"p", ConstBlockView<T>(state.p.v())},
                  {"locked", deflated.columns(state.deflated.constraints(), state.deflated.locked())}};
  if (state.basis.cols > 0) saved.blocks.push_back({"basis", state.basis.v()});
  // A phase that is not verified follows its recursion, which other images would change.
  if (!run.phase.verified && state.carries_images) {
    saved.blocks.push_back({"ax", ConstBlockView<T>(state.x.a())});
    saved.blocks.push_back({"ap", ConstBlockView<T>(state.p.a())});
  }
  run.checkpoint->write(saved);
}

template <class T>
Resumption resume(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  Resumption resumption;
  if (run.checkpoint == nullptr || run.checkpoint->saved() == nullptr) return resumption;
  const SavedNumbers numbers = *run.checkpoint->saved();
  if (is_in_float(numbers) == run.phase.verified) return resumption;
  BlockSpace<T>& space = run.problem.space;
  state.window = saved_window(numbers);
  read_locked(run, state);
  read_panel(run, "x", state.carries_images, state.x);
  read_panel(run, "p", state.carries_images, state.p);
  state.ritz = saved_pairs(numbers, "ritz");
  require_whole(state.x.cols() == state.ritz.count(), "x");
  state.locked = saved_pairs(numbers, "locked");
  const List& norms = numbers.at("norms", 3);
  state.test = residual_test(run, OperatorNorms{norms[0], norms[1], norms[2], run.problem.with_mass()});
  const List& projected = numbers.at("projected_p");
  state.projected_p = SmallMatrix(state.p.cols(), state.p.cols());
  if (projected.size() == state.projected_p.values().size())
    std::copy(projected.begin(), projected.end(), state.projected_p.data());
  state.rounding.near_tolerance = numbers.number("rounding", 0) != 0.0;
  state.rounding.strict_until = integer(numbers, "rounding", 1);
  state.rounding.amplification = numbers.number("rounding", 2);
  // What is known of the errors of X and P is that of the run before; measured once, it is that of these images.
  state.rounding.measure = true;
  state.r.set_columns(state.active());
  // Norms stay as they were: those without what lies along locked vectors are not those of R.
  if (state.active() > 0) {
    const BlockView<T> ax = state.make_room_for_image_of_x();
    if (!state.carries_images) run.problem.a.apply(state.x.v(), ax);
    space.residual(ax, state.x.b(), state.ritz.values, state.r.view());
  }
  if (const LocalIndex columns = run.checkpoint->columns("basis"); columns > 0) {
    state.basis = make_davidson_basis(space, columns);
    run.checkpoint->read("basis", state.basis.storage);
    state.basis.cols = columns;
  }
  if (!numbers.at("filters").empty()) resumption.filters = saved_filters(numbers);
  resumption.resumed = true;
  // What it took to come here again.
  state.setup_seconds = numbers.number("setup_seconds") + run.budget.seconds() - numbers.number("seconds");
  run.checkpoint->taken();
  return resumption;
}

std::optional<LobpcgPhase> saved_phase_in_double(const Checkpoint* checkpoint) {
  const SavedNumbers* numbers = checkpoint != nullptr ? checkpoint->saved() : nullptr;
  if (numbers == nullptr || is_in_float(*numbers)) return std::nullopt;
  return integer(*numbers, "resting_guards") > 0 ? LobpcgPhase::refinement() : LobpcgPhase{};
}

bool holds_state_in_float(const Checkpoint* checkpoint) {
  const SavedNumbers* numbers = checkpoint != nullptr ? checkpoint->saved() : nullptr;
  return numbers != nullptr && numbers->contains("in_float") && is_in_float(*numbers);
}

Budget resumed_budget(const Checkpoint* checkpoint, const Budget& budget, std::vector<LobpcgIteration>& history) {
  const SavedNumbers* numbers = checkpoint != nullptr ? checkpoint->saved() : nullptr;
  if (numbers == nullptr) return budget;
  history = saved_history(*numbers, "history");
  const std::chrono::duration<double> before(numbers->number("seconds"));
  Budget resumed(budget.limit(),
                 Budget::Clock::now() - std::chrono::duration_cast<Budget::Clock::duration>(before));
  resumed.spend(integer(*numbers, "iterations"));
  return resumed;
}

int first_iteration(const Checkpoint* checkpoint, const Budget& budget) {
  const SavedNumbers* numbers = checkpoint != nullptr ? checkpoint->saved() : nullptr;
  return numbers != nullptr ? integer(*numbers, "first_iteration") : budget.spent();
}

void save_history(const std::vector<LobpcgIteration>& history, const std::string& name, SavedNumbers& numbers) {
  List &values = numbers[name + "_eigenvalues"], &residuals = numbers[name + "_residual_norms"];
  List& others = numbers[name];
  for (const LobpcgIteration& entry : history) {
    values.insert(values.end(), entry.eigenvalues.begin(), entry.eigenvalues.end());
    residuals.insert(residuals.end(), entry.residual_norms.begin(), entry.residual_norms.end());
    others.insert(others.end(), {entry.seconds, static_cast<double>(entry.active_columns),
                                 static_cast<double>(entry.products), entry.in_float ? 1.0 : 0.0});
  }
}

std::vector<LobpcgIteration> saved_history(const SavedNumbers& numbers, const std::string& name) {
  constexpr std::size_t fields = 4;
  const List& others = numbers.at(name);
  const List& values = numbers.at(name + "_eigenvalues");
  const List& residuals = numbers.at(name + "_residual_norms", values.size());
  std::vector<LobpcgIteration> history(others.size() / fields);
  const auto pairs = static_cast<std::ptrdiff_t>(history.empty() ? 0 : values.size() / history.size());
  for (std::size_t i = 0; i < history.size(); ++i) {
    const auto first = static_cast<std::ptrdiff_t>(i) * pairs;
    history[i] = {List(values.begin() + first, values.begin() + first + pairs),
                  List(residuals.begin() + first, residuals.begin() + first + pairs),
                  others[fields * i],
                  static_cast<int>(others[fields * i + 1]),
                  static_cast<int>(others[fields * i + 2]),
                  others[fields * i + 3] != 0.0};
  }
  return history;
}

template void save_if_due(const LobpcgRun<float>&, const LobpcgState<float>&, const FilterProgress*);
template void save_if_due(const LobpcgRun<double>&, const LobpcgState<double>&, const FilterProgress*);
template Resumption resume(const LobpcgRun<float>&, LobpcgState<float>&);
template Resumption resume(const LobpcgRun<double>&, LobpcgState<double>&);

}  // namespace block_eigs
