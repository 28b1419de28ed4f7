#pragma once

#include <memory>
#include <string>

#include "apps/checkpoint/journey_state.hpp"
#include "apps/checkpoint/tall_rows.hpp"
#include "io/checkpoint/checkpoint_file.hpp"

namespace block_eigs {

/// The state that a former run has left. Collective but where it says otherwise.
class FoundState {
 public:
  /// Throws InputError on all ranks where the file is damaged, or was written by another program.
  FoundState(const Communicator& comm, const std::string& path, const std::string& program);

  // Not collective:
  std::string identity() const { return reader_.text(identity_text); }
  const SavedNumbers& numbers() const { return numbers_; }
  const Journey& journey() const { return journey_; }
  LocalIndex columns(const std::string& block) const { return reader_.columns(block); }

  /// Own rows of a block. Throws InputError on all ranks where it is not there, or cannot be read any more.
  template <class T>
  void read(const std::string& block, const RowLayout& layout, DenseBlock<T>& rows) const;

 private:
  CheckpointReader reader_;
  SavedNumbers numbers_;
  Journey journey_;
};

}  // namespace block_eigs
