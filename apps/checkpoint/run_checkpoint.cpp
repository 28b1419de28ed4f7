#include "apps/checkpoint/run_checkpoint.hpp"

#include <algorithm>
#include <filesystem>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "io/files/output_path.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Before the names of numbers of the journey.
constexpr const char* along_prefix = "along_";

std::string hexadecimal(std::uint64_t digest) { return fmt::format("{:016x}", digest); }

/// Own rows in host memory, row-major, a piece at a time through a block of their device.
template <class T>
std::vector<T> to_host(const std::shared_ptr<Device>& device, ConstBlockView<T> view) {
  constexpr std::size_t piece_values = std::size_t{1} << 21;
  std::vector<T> values(static_cast<std::size_t>(view.rows) * static_cast<std::size_t>(view.cols));
  if (values.empty()) return values;
  const auto most =
      static_cast<LocalIndex>(std::max<std::size_t>(piece_values / static_cast<std::size_t>(view.cols), 1));
  const LocalIndex rows = std::min(view.rows, most);
  const std::shared_ptr<Kernels<T>> kernels = make_kernels<T>(device);
  DenseBlock<T> piece(device, rows, view.cols);
  for (LocalIndex first = 0; first < view.rows; first += rows) {
    const LocalIndex count = std::min<LocalIndex>(rows, view.rows - first);
    const T* at = view.data + static_cast<std::ptrdiff_t>(first) * view.stride;
    BlockView<T> some = piece.view();
    some.rows = count;
    kernels->copy(ConstBlockView<T>{at, count, view.cols, view.stride}, some);
    piece.rows_to_host(
        0, count, values.data() + static_cast<std::ptrdiff_t>(first) * static_cast<std::ptrdiff_t>(view.cols));
  }
  return values;
}

}  // namespace

RunCheckpoint::RunCheckpoint(const Communicator& comm, const RunConfig& config, const std::string& program,
                             Announce announce)
    : comm_(comm),
      name_(comm.broadcast(resolved_output_path(config.checkpoint->file))),
      program_(program),
      tolerance_(program == "block-solve" ? config.linear_solver.tolerance : config.eigensolver.options.tolerance),
      every_(config.checkpoint->every),
      announce_(std::move(announce)),
      identity_(identity(config, program)) {
  const std::string output = config.output ? comm.broadcast(resolved_output_path(config.output->file)) : "";
  comm.collectively([&] {
    require(name_ != output, fmt::format("checkpoint: {} is the file of the result too: name another one", name_));
  });
  require_writable(comm, name_);
  lock_.emplace(comm, "checkpoint", name_);
  bool exists = false;
  comm.collectively([&] {
    if (!comm.is_root()) return;
    remove_partial_files(name_);
    exists = std::filesystem::exists(name_);
  });
  if (comm.any(exists)) take_over();
}

void RunCheckpoint::take_over() {
  reader_ = std::make_unique<CheckpointReader>(comm_, name_);
  const std::string wrote = reader_->text("program");
  comm_.collectively([&] {
    require(wrote == program_,
            fmt::format("checkpoint: {} was written by {}, this is {}", name_, wrote, program_));
  });
  before_ = identity_from(reader_->text("identity"));
  Identity options = before_;
  std::erase_if(options, [](const auto& entry) { return entry.first.starts_with("digest of "); });
  const std::string other = difference(options, identity_);
  comm_.collectively(
      [&] { require(other.empty(), fmt::format("checkpoint: {} belongs to another problem: {}", name_, other)); });
  for (const auto& [name, values] : reader_->numbers()) {
    if (name.starts_with(along_prefix)) {
      found_.numbers[name.substr(std::string(along_prefix).size())] = values;
    } else {
      saved_[name] = values;
    }
  }
  found_.text = reader_->text("along");
  const double tolerance = reader_->numbers().at("tolerance").at(0);
  comm_.collectively([&] {
    require(
        tolerance_ >= tolerance,
        fmt::format("checkpoint: {} was made with tolerance {}, and what is done there may not have come to {}: "
                    "a larger tolerance is possible, a smaller one is not",
                    name_, tolerance, tolerance_));
  });
  // States that follow are no better than the first of them.
  written_ = static_cast<int>(saved_.at("iterations").at(0));
}

void RunCheckpoint::watch(Sources& sources) {
  const auto watched = [](std::unique_ptr<MatrixSource>& source) {
    auto digested = std::make_unique<DigestedMatrix>(std::move(source));
    const DigestedMatrix* at = digested.get();
    source = std::move(digested);
    return at;
  };
  const DigestedMatrix* a = watched(sources.a);
  matrix_digest_ = [this, a] { return a->digest()->over(comm_); };
  if (!sources.b) return;
  const DigestedMatrix* b = watched(sources.b);
  mass_digest_ = [this, b] { return b->digest()->over(comm_); };
}

void RunCheckpoint::require_same(const std::string& what, const std::string& digest) {
  const std::string name = "digest of " + what;
  identity_[name] = digest;
  if (!reader_) return;
  const auto there = before_.find(name);
  const bool same = (there == before_.end() ? "" : there->second) == digest;
  comm_.collectively([&] {
    require(same, fmt::format("checkpoint: {} belongs to another problem: the {} is another one", name_, what));
  });
}

template <class T>
void RunCheckpoint::bind(const Problem<T>& problem) {
  device_ = problem.context.device;
  profile_ = problem.context.profile;
  stop_ = problem.context.stop;
  order_ = problem.order;
  partition_ = order_ ? order_->file() : problem.partition;
  require_same("matrix", fmt::format("{} rows {}", problem.partition.rows(), hexadecimal(matrix_digest_())));
  require_same("mass", mass_digest_ ? hexadecimal(mass_digest_()) : "none");
  if (!reader_) return;
  announce_(finished() ? fmt::format("checkpoint: {} is that of a finished run, {} iterations: nothing of it is "
                                     "computed again but what is verified",
                                     name_, written_)
                       : fmt::format("checkpoint: goes on from iteration {} of {}", written_, name_));
}

template <class T>
void RunCheckpoint::identify(const std::string& what, const DenseBlock<T>& vectors) {
  std::vector<T> values;
  comm_.collectively([&] { values = to_host(device_, vectors.view()); });
  const LocalIndex columns = vectors.cols();
  if (order_) values = order_->in_file_order(values, static_cast<std::size_t>(columns));
  Digest digest;
  digest.add(static_cast<std::uint64_t>(partition_->begin(comm_.rank()) * columns), std::span<const T>(values));
  require_same(what, fmt::format("{} columns {}", columns, hexadecimal(digest.over(comm_))));
}

bool RunCheckpoint::finished() const { return reader_ && saved_.contains("finished"); }

std::string RunCheckpoint::how_to_go_on() const {
  if (written_ < 0) return {};
  return fmt::format(
      "checkpoint: {} holds iteration {}; the same command goes on from there, where a limit ended it with a "
      "larger one",
      name_, written_);
}

bool RunCheckpoint::due() {
  const bool late = comm_.is_root() && Clock::now() - last_ >= every_;
  return comm_.any(late || (stop_ && stop_->agreed()));
}

template <class T>
void RunCheckpoint::write_rows(CheckpointWriter& writer, const std::string& name, ConstBlockView<T> rows) const {
  if (rows.cols == 0) return;
  std::vector<T> values;
  comm_.collectively([&] { values = to_host(device_, rows); });
  if (order_) values = order_->in_file_order(values, static_cast<std::size_t>(rows.cols));
  writer.vectors(name, *partition_, rows.cols, values);
}

void RunCheckpoint::write(const SavedState& state) {
  const Profile::Scope scope(*profile_, Phase::io);
  try {
    CheckpointWriter writer(comm_, name_);
    writer.text("program", program_);
    writer.text("identity", text_of(identity_));
    const Journey journey = journey_ ? journey_() : Journey{};
    writer.text("along", journey.text);
    writer.numbers("tolerance", {tolerance_});
    for (const auto& [name, values] : state.numbers) writer.numbers(name, values);
    for (const auto& [name, values] : journey.numbers) writer.numbers(along_prefix + name, values);
    for (const SavedBlock& block : state.blocks)
      std::visit([&](const auto& rows) { write_rows(writer, block.name, rows); }, block.rows);
    writer.commit();
    written_ = static_cast<int>(state.numbers.at("iterations").at(0));
  } catch (const Error& error) {
    if (dynamic_cast<const OnAllRanks*>(&error) == nullptr) throw;
    announce_(fmt::format("checkpoint: not written, an older one stands if there is one: {}", error.what()));
  }
  last_ = Clock::now();
}

LocalIndex RunCheckpoint::columns(const std::string& block) const { return reader_ ? reader_->columns(block) : 0; }

template <class T>
void RunCheckpoint::read_rows(const std::string& block, DenseBlock<T>& rows) {
  std::vector<double> values = reader_->vectors(block, *partition_);
  if (order_) values = order_->reordered(values, static_cast<std::size_t>(rows.cols()));
  comm_.collectively([&] {
    if constexpr (std::is_same_v<T, double>) {
      rows.from_host(values.data());
    } else {
      rows.from_host(std::vector<T>(values.begin(), values.end()).data());
    }
  });
}

void RunCheckpoint::read(const std::string& block, DenseBlock<float>& rows) { read_rows(block, rows); }
void RunCheckpoint::read(const std::string& block, DenseBlock<double>& rows) { read_rows(block, rows); }

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
