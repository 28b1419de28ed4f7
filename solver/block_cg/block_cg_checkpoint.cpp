#include "solver/block_cg/block_cg_checkpoint.hpp"

namespace block_eigs {

namespace {

using List = std::vector<double>;

void save_history(const std::vector<BlockCgIteration>& history, SavedNumbers& numbers) {
  List &norms = numbers["history_residual_norms"], &others = numbers["history"];
  for (const BlockCgIteration& entry : history) {
    norms.insert(norms.end(), entry.residual_norms.begin(), entry.residual_norms.end());
    others.insert(others.end(),
                  {entry.seconds, static_cast<double>(entry.active_columns), entry.in_float ? 1.0 : 0.0});
  }
}

std::vector<BlockCgIteration> saved_history(const SavedNumbers& numbers) {
  constexpr std::size_t fields = 3;
  const List& norms = numbers.at("history_residual_norms");
  const List& others = numbers.at("history");
  std::vector<BlockCgIteration> history(others.size() / fields);
  const auto sides = static_cast<std::ptrdiff_t>(history.empty() ? 0 : norms.size() / history.size());
  for (std::size_t i = 0; i < history.size(); ++i) {
    const auto first = norms.begin() + static_cast<std::ptrdiff_t>(i) * sides;
    history[i] = {List(first, first + sides), others[fields * i], static_cast<int>(others[fields * i + 1]),
                  others[fields * i + 2] != 0.0};
  }
  return history;
}

}  // namespace

List numbers_of(const BlockCgFindings& findings) {
  return {static_cast<double>(findings.end), findings.indefinite_matrix ? 1.0 : 0.0,
          findings.singular_matrix ? 1.0 : 0.0, findings.indefinite_preconditioner ? 1.0 : 0.0};
}

BlockCgFindings saved_findings(const SavedNumbers& numbers, const std::string& name) {
  const List& list = numbers.at(name, 4);
  return {static_cast<BlockCgEnd>(static_cast<int>(list[0])), list[1] != 0.0, list[2] != 0.0, list[3] != 0.0};
}

template <class T>
void save_result(const BlockCgResult<T>& result, SavedState& state) {
  SavedNumbers& numbers = state.numbers;
  numbers["iterations"] = {static_cast<double>(result.total_iterations)};
  numbers["residual_norms"] = result.residual_norms;
  numbers["recursive_residual_norms"] = result.recursive_residual_norms;
  numbers["rhs_norms"] = result.rhs_norms;
  for (const Outcome outcome : result.outcomes) numbers["outcomes"].push_back(static_cast<double>(outcome));
  for (const int count : result.iterations) numbers["iterations_of_sides"].push_back(count);
  numbers["result_findings"] = numbers_of(result.findings);
  numbers["setup_seconds"] = {result.setup_seconds};
  save_history(result.history, numbers);
  state.blocks.push_back({"solution", result.solution.view()});
}

template <class T>
void read_result(BlockSpace<T>& space, Checkpoint& checkpoint, BlockCgResult<T>& result) {
  const SavedNumbers& numbers = *checkpoint.saved();
  if (result.solution.cols() == 0) result.solution = space.make_block(checkpoint.columns("solution"));
  checkpoint.read("solution", result.solution);
  const auto sides = static_cast<std::size_t>(result.solution.cols());
  result.total_iterations = static_cast<int>(numbers.number("iterations"));
  result.residual_norms = numbers.at("residual_norms", sides);
  result.recursive_residual_norms = numbers.at("recursive_residual_norms", sides);
  result.rhs_norms = numbers.at("rhs_norms", sides);
  result.outcomes.clear();
  result.iterations.clear();
  for (const double outcome : numbers.at("outcomes", sides))
    result.outcomes.push_back(static_cast<Outcome>(static_cast<int>(outcome)));
  for (const double count : numbers.at("iterations_of_sides", sides))
    result.iterations.push_back(static_cast<int>(count));
  result.findings = saved_findings(numbers, "result_findings");
  result.history = saved_history(numbers);
}

template void save_result(const BlockCgResult<float>&, SavedState&);
template void save_result(const BlockCgResult<double>&, SavedState&);
template void read_result(BlockSpace<float>&, Checkpoint&, BlockCgResult<float>&);
template void read_result(BlockSpace<double>&, Checkpoint&, BlockCgResult<double>&);

}  // namespace block_eigs
