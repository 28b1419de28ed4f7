#pragma once

#include <memory>
#include <string>

#include "apps/checkpoint/identity.hpp"
#include "apps/checkpoint/journey_state.hpp"
#include "apps/checkpoint/tall_rows.hpp"
#include "io/checkpoint/checkpoint_file.hpp"

namespace block_eigs {

/// All that a file says beside vectors.
struct StateTexts {
  std::string program;
  Identity identity;
  double tolerance = 0.0;
  Journey journey;
};

/// Writes states, one at a time, to a file that the last one of them replaces. Where there is memory for a copy of
/// the vectors they are written from that by a thread of every rank, while the solver goes on. Collective but
/// where it says otherwise; functions throw RunError on all ranks where a state cannot be written, and are then as
/// if it had not been begun.
class StateWriter {
 public:
  StateWriter(const Communicator& comm, std::string path) : comm_(comm), path_(std::move(path)) {}

  /// The state may change when this returns. What was begun before has to be finished.
  void begin(const StateTexts& texts, const SavedState& state, const RowLayout& layout);
  /// Whether there is a state that was begun and not finished: alike on all ranks; not collective.
  bool under_way() const { return writer_ != nullptr; }
  /// Whether the thread of this rank is at work. Not collective.
  bool busy() const { return writer_ && writer_->busy(); }
  /// Waits for the threads of all ranks, and puts the file in its place.
  void finish();
  /// Iterations of the last state that was finished, those of earlier ways included; -1 for none. Not collective.
  int written() const { return written_; }
  /// The same, of a state that was there before.
  void found(int iterations) { written_ = iterations; }

 private:
  Communicator comm_;
  std::string path_;
  std::unique_ptr<CheckpointWriter> writer_;
  int begun_ = -1;
  int written_ = -1;
};

}  // namespace block_eigs
