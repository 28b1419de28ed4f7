#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/checkpoint/identity.hpp"
#include "apps/config/config.hpp"
#include "apps/input/problem.hpp"
#include "io/checkpoint/checkpoint_file.hpp"
#include "io/checkpoint/file_lock.hpp"
#include "solver/checkpoint.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/stop_request.hpp"

namespace block_eigs {

/// What goes along with a solver's state: what came before that solver, and how it was chosen.
struct Journey {
  SavedNumbers numbers{};
  std::string text{};
};

/// The checkpoint of a run: the file, locked; the state that a former run has left there; when the next one is
/// due. In this order: constructor, watch, bind, and then solvers use it. All member functions are collective but
/// where they say otherwise.
class RunCheckpoint final : public Checkpoint {
 public:
  using Announce = std::function<void(const std::string&)>;

  /// Locks the file and reads what it holds. Throws InputError on all ranks where another run is at work on it,
  /// where it cannot be written, where it is damaged, and where it was written by another program or with other
  /// options. `announce` is told what becomes of it.
  RunCheckpoint(const Communicator& comm, const RunConfig& config, const std::string& program, Announce announce);

  /// From here on the entries that are read from the sources are taken note of. Before anything is read.
  void watch(Sources& sources);
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
  const Journey& found() const { return found_; }

  /// Whether there is a state that says that the run has come to its end. Not collective.
  bool finished() const;
  /// Whether the file holds a state of this run. Not collective.
  bool has_written() const { return written_ >= 0; }
  /// What is left to say at the end of a run that is not finished: how to go on; empty where nothing was written.
  std::string how_to_go_on() const;

  bool due() override;
  void write(const SavedState& state) override;
  const SavedNumbers* saved() const override { return reader_ ? &saved_ : nullptr; }
  LocalIndex columns(const std::string& block) const override;
  void read(const std::string& block, DenseBlock<float>& rows) override;
  void read(const std::string& block, DenseBlock<double>& rows) override;
  void taken() override { reader_.reset(); }

 private:
  using Clock = std::chrono::steady_clock;

  void take_over();
  void require_same(const std::string& what, const std::string& digest);
  template <class T>
  void read_rows(const std::string& block, DenseBlock<T>& rows);
  template <class T>
  void write_rows(CheckpointWriter& writer, const std::string& name, ConstBlockView<T> rows) const;

  Communicator comm_;
  std::string name_;  ///< as messages show it
  std::string program_;
  double tolerance_;
  std::chrono::duration<double> every_;
  Announce announce_;
  std::optional<FileLock> lock_;
  Identity identity_;
  Identity before_;  ///< of the state that was found
  std::unique_ptr<CheckpointReader> reader_;
  SavedNumbers saved_;
  Journey found_;
  std::function<Journey()> journey_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<Profile> profile_;
  std::shared_ptr<const StopRequest> stop_;  ///< what ends early leaves its state
  std::shared_ptr<const RowOrder> order_;
  std::optional<Partition> partition_;
  std::function<std::uint64_t()> matrix_digest_;
  std::function<std::uint64_t()> mass_digest_;
  Clock::time_point last_ = Clock::now();
  int written_ = -1;  ///< iterations of the state that the file holds
};

/// Of the config, where it asks for one; it watches the sources. Collective; throws as the constructor.
std::unique_ptr<RunCheckpoint> open_checkpoint(const Communicator& comm, const RunConfig& config,
                                               const std::string& program, RunCheckpoint::Announce announce,
                                               Sources& sources);

}  // namespace block_eigs
