#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "spmm/matrix/dense_block.hpp"

namespace block_eigs {

/// Numbers that all ranks have alike, lists by name.
class SavedNumbers {
 public:
  using List = std::vector<double>;

  /// An empty one where there is none yet.
  List& operator[](const std::string& name) { return lists_[name]; }
  bool contains(const std::string& name) const { return lists_.contains(name); }
  /// The list of that name, of `least` numbers or more. Throws InputError on all ranks where there is none: a
  /// state that was found is not what this program writes.
  const List& at(const std::string& name, std::size_t least = 0) const;
  /// Number `place` of it; throws as above.
  double number(const std::string& name, std::size_t place = 0) const { return at(name, place + 1)[place]; }

  auto begin() const { return lists_.begin(); }
  auto end() const { return lists_.end(); }

 private:
  std::map<std::string, List> lists_;
};

/// Vectors that are dealt to ranks: the calling rank's rows of them.
struct SavedBlock {
  std::string name;
  std::variant<ConstBlockView<float>, ConstBlockView<double>> rows;
};

/// All that a solver needs to go on from the end of an iteration. Views are valid during the call alone.
struct SavedState {
  SavedNumbers numbers;
  std::vector<SavedBlock> blocks;
};

/// Where a solver leaves its state while it runs, and where it finds the state that it is to go on from. All
/// member functions but saved() are collective.
class Checkpoint {
 public:
  Checkpoint() = default;
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;
  virtual ~Checkpoint() = default;

  /// Whether the state is to be written now, at the end of an iteration. The answer may come from a clock: it
  /// changes nothing that is computed. Alike on all ranks.
  virtual bool due() = 0;
  /// Writes it. That it cannot be written is no error: the solver goes on, and what was written before stands.
  virtual void write(const SavedState& state) = 0;

  /// The state to go on from; null where there is none, or where a solver has taken it already.
  virtual const SavedNumbers* saved() const = 0;
  /// Columns of a block of that state; 0 where it has no such block.
  virtual LocalIndex columns(const std::string& block) const = 0;
  /// Own rows of it, all columns. Throws on all ranks where it cannot be read any more.
  virtual void read(const std::string& block, DenseBlock<float>& rows) = 0;
  virtual void read(const std::string& block, DenseBlock<double>& rows) = 0;
  /// The state has been taken; saved() is null from here on.
  virtual void taken() = 0;
};

}  // namespace block_eigs
