#include "apps/checkpoint/run_checkpoint.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/files/output_path.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// The text of the lowest rank that has one, on all ranks; what is too long is cut off. Collective.
std::string first_text(const Communicator& comm, const std::string& own) {
  constexpr std::size_t most = 1000;
  const std::int64_t lowest = -comm.max(own.empty() ? -std::int64_t{comm.size()} : -std::int64_t{comm.rank()});
  std::vector<std::int64_t> letters(most, 0);
  if (lowest == comm.rank()) std::copy_n(own.begin(), std::min(own.size(), most), letters.begin());
  comm.sum(letters);
  return {letters.begin(), std::find(letters.begin(), letters.end(), 0)};
}

}  // namespace

RunCheckpoint::RunCheckpoint(const Communicator& comm, const RunConfig& config, const std::string& program,
                             Announce announce)
    : comm_(comm),
      path_(comm.broadcast(resolved_output_path(config.checkpoint->file))),
      program_(program),
      tolerance_(program == "block-solve" ? config.linear_solver.tolerance : config.eigensolver.options.tolerance),
      every_(config.checkpoint->every),
      announce_(std::move(announce)),
      problem_(comm, path_, identity(config, program)),
      writer_(comm, path_) {
  const std::string output = config.output ? comm.broadcast(resolved_output_path(config.output->file)) : "";
  comm.collectively([&] {
    require(path_ != output, fmt::format("checkpoint: {} is the file of the result too: name another one", path_));
  });
  // The lock first: who has it removes what others seem to have left beside the file.
  require_place(comm, path_);
  lock_.emplace(comm, "checkpoint", path_);
  bool exists = false;
  comm.collectively([&] {
    if (!comm.is_root()) return;
    remove_partial_files(path_);
    exists = std::filesystem::exists(path_);
  });
  require_writable(comm, path_);
  if (comm.any(exists)) take_over();
}

void RunCheckpoint::take_over() {
  found_ = std::make_unique<FoundState>(comm_, path_, program_);
  problem_.compare_with(identity_from(found_->identity()));
  const double tolerance = found_->numbers().number("tolerance");
  comm_.collectively([&] {
    require(
        tolerance_ >= tolerance,
        fmt::format("checkpoint: {} was made with tolerance {}, and what is done there may not have come to {}: "
                    "a larger tolerance is possible, a smaller one is not",
                    path_, tolerance, tolerance_));
  });
  // States that follow are no better than the first of them.
  found_journey_ = found_->journey();
  writer_.found(iterations_of(found_->numbers(), found_journey_));
}

template <class T>
void RunCheckpoint::bind(const Problem<T>& problem) {
  profile_ = problem.context.profile;
  stop_ = problem.context.stop;
  layout_ = RowLayout{comm_, problem.context.device, problem.order,
                      problem.order ? problem.order->file() : problem.partition};
  problem_.add_matrices(problem.partition.rows());
  if (!found_) return;
  announce_(finished() ? fmt::format("checkpoint: {} is that of a finished run, {} iterations: nothing of it is "
                                     "computed again but what is verified",
                                     path_, writer_.written())
                       : fmt::format("checkpoint: goes on from iteration {} of {}", writer_.written(), path_));
}

template <class T>
void RunCheckpoint::identify(const std::string& what, const DenseBlock<T>& vectors) {
  problem_.add_vectors(what, vectors, *layout_);
}

bool RunCheckpoint::finished() const { return found_ && found_->numbers().contains("finished"); }

std::string RunCheckpoint::how_to_go_on() const {
  if (!has_written()) return {};
  return fmt::format(
      "checkpoint: {} holds iteration {}; the same command goes on from there, where a limit ended it with a "
      "larger one",
      path_, writer_.written());
}

bool RunCheckpoint::due() {
  const bool late = comm_.is_root() && Clock::now() - last_ >= every_;
  std::array<std::int64_t, 2> of_ranks{writer_.busy() ? 1 : 0, late ? 1 : 0};
  comm_.sum(of_ranks);
  const bool busy = of_ranks[0] > 0;
  if (!busy) conclude();
  if (stop_ && stop_->agreed()) return true;
  // A disk that is slower than that is not waited for.
  return of_ranks[1] > 0 && !busy;
}

/// What cannot be written does no harm: it is told, and the run goes on.
void RunCheckpoint::attempt(const std::function<void()>& write) {
  const Profile::Scope scope(*profile_, Phase::io);
  std::string reason;
  bool failed = false;
  try {
    write();
  } catch (const Error& error) {
    if (dynamic_cast<const OnAllRanks*>(&error) == nullptr) throw;
    failed = true;
    if (dynamic_cast<const RemoteError*>(&error) == nullptr) reason = error.what();
  }
  if (!failed) return;
  last_ = Clock::now();
  announce_("checkpoint: not written, an older one stands if there is one: " + first_text(comm_, reason));
}

void RunCheckpoint::conclude() {
  if (writer_.under_way()) attempt([&] { writer_.finish(); });
}

void RunCheckpoint::write(const SavedState& state) {
  conclude();
  last_ = Clock::now();
  attempt([&] {
    const Journey journey = journey_ ? journey_() : Journey{};
    writer_.begin({program_, problem_.known(), tolerance_, journey}, state, *layout_);
  });
  // Who ends a run may not leave it much time.
  if (stop_ && stop_->agreed()) conclude();
}

std::unique_ptr<RunCheckpoint> open_checkpoint(const Communicator& comm, const RunConfig& config,
                                               const std::string& program, RunCheckpoint::Announce announce,
                                               Sources& sources) {
  if (!config.checkpoint) return nullptr;
  auto checkpoint = std::make_unique<RunCheckpoint>(comm, config, program, std::move(announce));
  checkpoint->watch(sources);
  return checkpoint;
}

template void RunCheckpoint::bind(const Problem<float>&);
template void RunCheckpoint::bind(const Problem<double>&);
template void RunCheckpoint::identify(const std::string&, const DenseBlock<float>&);
template void RunCheckpoint::identify(const std::string&, const DenseBlock<double>&);

}  // namespace block_eigs
