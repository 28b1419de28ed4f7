#include <algorithm>
#include <cstddef>

#include "solver/block_cg/block_cg_recurrence.hpp"

// The recurrence as numbers, for checkpoints.
namespace block_eigs {

const std::array<SmallMatrix BlockCgRecurrence::*, 9> BlockCgRecurrence::matrices{
    &BlockCgRecurrence::components_, &BlockCgRecurrence::transform_, &BlockCgRecurrence::factor_,
    &BlockCgRecurrence::gram_,       &BlockCgRecurrence::alignment_, &BlockCgRecurrence::step_,
    &BlockCgRecurrence::rebasing_,   &BlockCgRecurrence::squares_,   &BlockCgRecurrence::weights_};

void BlockCgRecurrence::save(const std::string& prefix, SavedNumbers& numbers) const {
  std::vector<double>& sides = numbers[prefix + "sides"];
  for (const Side& side : sides_)
    sides.insert(sides.end(), {side.limit, side.floor, side.active ? 1.0 : 0.0, side.norm, side.dropped});
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const SmallMatrix& matrix = this->*matrices[i];
    std::vector<double>& list = numbers[prefix + std::to_string(i)];
    list = {static_cast<double>(matrix.rows()), static_cast<double>(matrix.cols())};
    list.insert(list.end(), matrix.values().begin(), matrix.values().end());
  }
  numbers[prefix + "counts"] = {inner_square_, static_cast<double>(passes_), static_cast<double>(since_ranking_)};
}

void BlockCgRecurrence::restore(const std::string& prefix, const SavedNumbers& numbers) {
  const std::vector<double>& sides = numbers.at(prefix + "sides");
  constexpr std::size_t fields = 5;
  sides_.resize(sides.size() / fields);
  for (std::size_t j = 0; j < sides_.size(); ++j) {
    const double* at = sides.data() + fields * j;
    sides_[j] = {std::max(at[0], sides_[j].limit), at[1], at[2] != 0.0, at[3], at[4]};
  }
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const std::string name = prefix + std::to_string(i);
    SmallMatrix& matrix = this->*matrices[i];
    matrix.resize(static_cast<int>(numbers.number(name, 0)), static_cast<int>(numbers.number(name, 1)));
    const std::size_t size = matrix.values().size();
    std::copy_n(numbers.at(name, 2 + size).begin() + 2, size, matrix.data());
  }
  const std::vector<double>& counts = numbers.at(prefix + "counts", 3);
  inner_square_ = counts[0];
  passes_ = static_cast<int>(counts[1]);
  since_ranking_ = static_cast<int>(counts[2]);
}

}  // namespace block_eigs
