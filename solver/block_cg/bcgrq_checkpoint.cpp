#include "solver/block_cg/bcgrq_checkpoint.hpp"

#include <array>

#include "solver/block_cg/bcgrq_steps.hpp"
#include "solver/block_cg/block_cg_checkpoint.hpp"

namespace block_eigs::bcgrq {

namespace {

using List = std::vector<double>;

constexpr std::array column_numbers{&Column::rhs_norm,     &Column::recursive_norm, &Column::true_norm,
                                    &Column::best_norm,    &Column::reached_norm,   &Column::least_norm,
                                    &Column::dip,          &Column::left_norm,      &Column::inner_norm,
                                    &Column::least_inner,  &Column::energy,         &Column::product_bound,
                                    &Column::product_scale};
constexpr std::array column_flags{&Column::active, &Column::unsolvable, &Column::best_settled};

List numbers_of(const std::vector<Column>& columns) {
  List list;
  for (const Column& column : columns) {
    for (const auto number : column_numbers) list.push_back(column.*number);
    list.push_back(static_cast<double>(column.iterations));
    for (const auto flag : column_flags) list.push_back(column.*flag ? 1.0 : 0.0);
  }
  return list;
}

void take(const SavedNumbers& numbers, std::vector<Column>& columns) {
  constexpr std::size_t fields = column_numbers.size() + 1 + column_flags.size();
  const double* at = numbers.at("columns", fields * columns.size()).data();
  for (Column& column : columns) {
    for (const auto number : column_numbers) column.*number = *at++;
    column.iterations = static_cast<int>(*at++);
    for (const auto flag : column_flags) column.*flag = *at++ != 0.0;
  }
}

template <class T>
bool is_due(const Sides<T>& sides, const Budget& budget) {
  if (sides.saving == nullptr || sides.saving->checkpoint == nullptr) return false;
  const bool last = budget.exhausted() && !budget.ended();
  return sides.saving->checkpoint->due() || last;
}

/// X, the numbers of the columns, and what is known of other right-hand sides.
template <class T>
SavedState common_state(const Sides<T>& sides, const Budget& budget) {
  SavedState saved;
  SavedNumbers& numbers = saved.numbers;
  numbers["spent"] = {static_cast<double>(budget.spent())};
  numbers["not_counted"] = {static_cast<double>(sides.not_counted),
                            static_cast<double>(sides.before_float.value_or(budget.spent()))};
  numbers["seconds"] = {budget.seconds()};
  numbers["columns"] = numbers_of(sides.columns);
  numbers["findings"] = numbers_of(sides.findings);
  saved.blocks.push_back({"x", ConstBlockView<T>(sides.x)});
  if (sides.best.known && !sides.best.is_zero)
    saved.blocks.push_back({"best", sides.best.x.columns(0, sides.count())});
  numbers["best"] = {sides.best.known ? 1.0 : 0.0, sides.best.is_zero ? 1.0 : 0.0};
  sides.saving->add_others(saved);
  return saved;
}

template <class T>
void read_into(BlockSpace<T>& space, Checkpoint& checkpoint, const std::string& name, BlockView<T> to) {
  if (to.cols == 0) return;
  DenseBlock<T> block = space.make_block(to.cols);
  checkpoint.read(name, block);
  space.copy(block.view(), to);
}

template <class T>
void resume_common(BlockSpace<T>& space, Sides<T>& sides) {
  Checkpoint& checkpoint = *sides.saving->checkpoint;
  const SavedNumbers& numbers = *checkpoint.saved();
  // Else it is part of the solutions.
  if (checkpoint.columns("x") > 0) read_into(space, checkpoint, "x", sides.x);
  take(numbers, sides.columns);
  sides.findings = saved_findings(numbers, "findings");
  // States that older programs wrote say nothing of it: there all iterations count.
  if (numbers.contains("not_counted")) {
    sides.not_counted = static_cast<int>(numbers.number("not_counted", 0));
    sides.before_float = static_cast<int>(numbers.number("not_counted", 1));
  }
  sides.starts_at_zero = false;
  sides.best.known = numbers.number("best", 0) != 0.0;
  sides.best.is_zero = numbers.number("best", 1) != 0.0;
  if (checkpoint.columns("best") == 0) return;
  if (sides.best.x.cols() < sides.count()) sides.best.x = space.make_block(sides.count());
  read_into(space, checkpoint, "best", sides.best.x.columns(0, sides.count()));
}

template <class T>
bool resumes(const Sides<T>& sides) {
  return sides.saving != nullptr && sides.saving->resumes && sides.saving->checkpoint->saved() != nullptr;
}

}  // namespace

template <class T>
void save_if_due(State<T>& state, const Sides<T>& sides, const Budget& budget, const RoundPlace& place) {
  if (!is_due(sides, budget)) return;
  state.deferred.complete();
  SavedState saved = common_state(sides, budget);
  saved.numbers["round"] = {place.first_round ? 1.0 : 0.0, static_cast<double>(place.iteration),
                            state.largest_inner, state.test.norm_a()};
  state.recurrence.save("recurrence_", saved.numbers);
  saved.blocks.push_back({"q", ConstBlockView<T>(state.q.view())});
  saved.blocks.push_back({"s", ConstBlockView<T>(state.s.view())});
  sides.saving->checkpoint->write(saved);
}

template <class T>
void save_between_rounds(const Sides<T>& sides, const Budget& budget) {
  if (!is_due(sides, budget)) return;
  sides.saving->checkpoint->write(common_state(sides, budget));
}

template <class T>
bool resumes_within_round(const Sides<T>& sides) {
  return resumes(sides) && sides.saving->checkpoint->saved()->contains("round");
}

template <class T>
std::optional<RoundPlace> resume(State<T>& state, Sides<T>& sides) {
  if (!resumes_within_round(sides)) return std::nullopt;
  Checkpoint& checkpoint = *sides.saving->checkpoint;
  const SavedNumbers numbers = *checkpoint.saved();
  resume_common(state.space, sides);
  sides.before_float.reset();  // the round is one in double
  for (Column& column : sides.columns) column.limit = column.share * state.test.limit(column.rhs_norm);
  const List& round = numbers.at("round", 4);
  state.largest_inner = round[2];
  state.test.raise_norm(round[3]);
  begin_recurrence(state, sides);  // with limits that may be larger than they were
  state.recurrence.restore("recurrence_", numbers);
  for (const auto& [name, panel] : {std::pair{"q", &state.q}, std::pair{"s", &state.s}}) {
    panel->set_columns(checkpoint.columns(name));
    read_into(state.space, checkpoint, name, panel->view());
  }
  checkpoint.taken();
  return RoundPlace{round[0] != 0.0, static_cast<int>(round[1])};
}

template <class T>
void resume_between_rounds(BlockSpace<T>& space, Sides<T>& sides) {
  if (!resumes(sides) || resumes_within_round(sides)) return;
  resume_common(space, sides);
  sides.saving->checkpoint->taken();
}

template void save_if_due(State<float>&, const Sides<float>&, const Budget&, const RoundPlace&);
template void save_if_due(State<double>&, const Sides<double>&, const Budget&, const RoundPlace&);
template void save_between_rounds(const Sides<float>&, const Budget&);
template void save_between_rounds(const Sides<double>&, const Budget&);
template std::optional<RoundPlace> resume(State<float>&, Sides<float>&);
template std::optional<RoundPlace> resume(State<double>&, Sides<double>&);
template void resume_between_rounds(BlockSpace<float>&, Sides<float>&);
template void resume_between_rounds(BlockSpace<double>&, Sides<double>&);
template bool resumes_within_round(const Sides<float>&);
template bool resumes_within_round(const Sides<double>&);

}  // namespace block_eigs::bcgrq
