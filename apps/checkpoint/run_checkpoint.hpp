#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apps/checkpoint/found_state.hpp"
#include "apps/checkpoint/problem_identity.hpp"
#include "apps/checkpoint/state_writer.hpp"
#include "apps/config/config.hpp"
#include "apps/input/problem.hpp"
#include "io/checkpoint/file_lock.hpp"
#include "solver/checkpoint.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/stop_request.hpp"

namespace block_eigs {

/// The checkpoint of a run, as solvers see it: when a state is due, and what there is to go on from. The file is
/// locked. In this order: constructor, watch, bind; then solvers use it; conclude. All member functions are
/// collective but where they say otherwise.
class RunCheckpoint final : public Checkpoint {
 public:
  using Announce = std::function<void(const std::string&)>;

  /// Locks the file and reads what it holds. Throws InputError on all ranks where another run is at work on it,
  /// where it cannot be written, where it is damaged, and where it was written by another program or with other
  /// options. `announce` is told what becomes of it.
  RunCheckpoint(const Communicator& comm, const RunConfig& config, const std::string& program, Announce announce);

  /// From here on the entries that are read from the sources are taken note of. Before anything is read. Not
  /// collective.
  void watch(Sources& sources) { problem_.watch(sources); }
  /// How rows are dealt, and on which device vectors are, once the matrices were read. Throws InputError where a
  /// state is there, and the matrices are not those that it belongs to.
  template <class T>
  void bind(const Problem<T>& problem);
  /// Further vectors that the problem is made of, as the solver has them: throws InputError as bind where they are
  /// others. After bind.
  template <class T>
  void identify(const std::string& what, const DenseBlock<T>& vectors);

  /// Called whenever a state is written: what whoever calls solvers adds to it. Not collective.
  void describe_journey(std::function<Journey()> journey) { journey_ = std::move(journey); }
  /// What came with the state that was found; empty where there is none. Not collective.
  const Journey& found() const { return found_journey_; }

  /// Whether there is a state that says that the run has come to its end. Not collective.
  bool finished() const;
  /// After the last state: waits until it is in its place.
  void conclude();
  /// Whether the file holds a state of this run. Not collective.
  bool has_written() const { return writer_.written() >= 0; }
  /// What is left to say at the end of a run that is not finished: how to go on; empty where nothing was written.
  /// Not collective.
  std::string how_to_go_on() const;

  bool due() override;
  void write(const SavedState& state) override;
  const SavedNumbers* saved() const override { return found_ ? &found_->numbers() : nullptr; }
  LocalIndex columns(const std::string& block) const override { return found_ ? found_->columns(block) : 0; }
  void read(const std::string& block, DenseBlock<float>& rows) override { found_->read(block, *layout_, rows); }
  void read(const std::string& block, DenseBlock<double>& rows) override { found_->read(block, *layout_, rows); }
  void taken() override { found_.reset(); }

 private:
  using Clock = std::chrono::steady_clock;

  void take_over();
  void attempt(const std::function<void()>& write);

  Communicator comm_;
  std::string path_;
  std::string program_;
  double tolerance_;
  std::chrono::duration<double> every_;
  Announce announce_;
  std::optional<FileLock> lock_;
  ProblemIdentity problem_;
  std::unique_ptr<FoundState> found_;
  Journey found_journey_;
  StateWriter writer_;
  std::function<Journey()> journey_;
  std::optional<RowLayout> layout_;
  std::shared_ptr<Profile> profile_;
  std::shared_ptr<const StopRequest> stop_;  ///< what ends early leaves its state
  Clock::time_point last_ = Clock::now();    ///< when the state at work was taken, or one could not be written
};

/// Of the config, where it asks for one; it watches the sources. Collective; throws as the constructor.
std::unique_ptr<RunCheckpoint> open_checkpoint(const Communicator& comm, const RunConfig& config,
                                               const std::string& program, RunCheckpoint::Announce announce,
                                               Sources& sources);

}  // namespace block_eigs
