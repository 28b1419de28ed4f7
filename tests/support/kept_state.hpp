#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <variant>

#include "solver/checkpoint.hpp"
#include "solver/space/block_space.hpp"

namespace block_eigs::test {

/// Keeps the state that is due at the n-th time of asking, where the space is, and gives it to those who go on
/// from there.
class KeptState final : public Checkpoint {
 public:
  KeptState(BlockSpace<double>& space, int time) : space_(space), left_(time) {}

  void give() { given_ = true; }
  bool due() override { return --left_ == 0; }
  void write(const SavedState& state) override {
    numbers_ = state.numbers;
    for (const SavedBlock& block : state.blocks) {
      const auto rows = std::get<ConstBlockView<double>>(block.rows);
      DenseBlock<double>& kept = blocks_[block.name] = space_.make_block(rows.cols);
      space_.copy(rows, kept.view());
    }
  }
  const SavedNumbers* saved() const override { return given_ ? &numbers_ : nullptr; }
  LocalIndex columns(const std::string& block) const override {
    const auto found = blocks_.find(block);
    return found == blocks_.end() ? 0 : found->second.cols();
  }
  void read(const std::string&, DenseBlock<float>&) override { ADD_FAILURE() << "nothing was kept in float"; }
  void read(const std::string& block, DenseBlock<double>& rows) override {
    space_.copy(std::as_const(blocks_.at(block)).view(), rows.view());
  }
  void taken() override { given_ = false; }

 private:
  BlockSpace<double>& space_;
  int left_;
  bool given_ = false;
  SavedNumbers numbers_;
  std::map<std::string, DenseBlock<double>> blocks_;
};

}  // namespace block_eigs::test
