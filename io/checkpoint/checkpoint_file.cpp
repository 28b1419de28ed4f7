#include "io/checkpoint/checkpoint_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <sstream>

#include "io/files/output_path.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr const char* format_name = "block-eigs checkpoint 3";
/// What every text is kept under in the list of contents, and the other kinds.
constexpr const char* text_kind = "text";
constexpr const char* numbers_kind = "numbers";
constexpr const char* vectors_kind = "vectors";

std::string numbers_path(const std::string& name) { return "/numbers/" + name; }
std::string vectors_path(const std::string& name) { return "/vectors/" + name; }
/// Digests as HDF5 and h5py show them: signed.
std::int64_t stored(std::uint64_t digest) { return static_cast<std::int64_t>(digest); }

/// `read` with what goes wrong in one sentence that says what the file is to the program.
template <class Read>
void reading(const std::string& path, const Read& read) {
  try {
    read();
  } catch (const InputError& error) {
    const std::string what = error.what();
    if (what.starts_with("checkpoint: ")) throw;
    throw InputError(fmt::format("checkpoint: {} is damaged: {}", path, what));
  }
}

void require_intact(bool intact, const std::string& path, const std::string& object) {
  require(intact, fmt::format("checkpoint: {} is damaged: {} is not what was written", path, object));
}

bool has_digest(const Hdf5File& file, const std::string& object, std::uint64_t digest) {
  const auto there = file.integer_attribute(object, "digest");
  return there && there->size() == 1 && there->front() == stored(digest);
}

}  // namespace

CheckpointWriter::CheckpointWriter(const Communicator& comm, const std::string& path)
    : comm_(comm), path_(path), writer_(comm, path) {}

void CheckpointWriter::text(const std::string& name, const std::string& text) {
  writer_.attribute("/", name, text);
  contents_ += fmt::format("{} {}\n", text_kind, name);
  texts_.add(name + "\n" + text);
}

void CheckpointWriter::numbers(const std::string& name, const std::vector<double>& values) {
  writer_.dataset(numbers_path(name), {std::ssize(values)}, std::span(values));
  Digest digest;
  digest.add(0, std::span(values));
  writer_.attribute(numbers_path(name), "digest", stored(digest.value()));
  contents_ += fmt::format("{} {}\n", numbers_kind, name);
}

void CheckpointWriter::place(const std::string& name, const Partition& partition, LocalIndex columns,
                             RowsToWrite rows) {
  const bool narrow = std::holds_alternative<RowPieces<float>>(rows.pieces);
  const GlobalIndex first = partition.begin(comm_.rank());
  rows.offset = writer_.place(vectors_path(name), {partition.rows(), columns}, first,
                              narrow ? Hdf5Element::float32 : Hdf5Element::float64);
  rows.place = static_cast<std::uint64_t>(first * columns);
  rows.rows = partition.size(comm_.rank());
  rows.columns = columns;
  work_.push_back(std::move(rows));
  names_.push_back(name);
  contents_ += fmt::format("{} {}\n", vectors_kind, name);
}

template <class T>
void CheckpointWriter::vectors(const std::string& name, const Partition& partition, LocalIndex columns,
                               RowPieces<T> pieces) {
  place(name, partition, columns, {.pieces = std::move(pieces)});
}

template <class T>
void CheckpointWriter::vectors(const std::string& name, const Partition& partition, LocalIndex columns,
                               std::vector<T> values) {
  const auto all = std::make_shared<const std::vector<T>>(std::move(values));
  vectors<T>(name, partition, columns, [all, columns](std::int64_t first, std::int64_t count) {
    return std::span<const T>(*all).subspan(static_cast<std::size_t>(first * columns),
                                            static_cast<std::size_t>(count * columns));
  });
}

void CheckpointWriter::start() {
  comm_.collectively([&] {
    rows_ = std::make_unique<RowWriter>(writer_.partial(), std::move(work_));
    rows_->start();
  });
}

void CheckpointWriter::commit() {
  std::vector<std::uint64_t> own;
  comm_.collectively([&] {
    if (!rows_) rows_ = std::make_unique<RowWriter>(writer_.partial(), std::move(work_));
    own = rows_->finish();
    rows_.reset();  // and with it the rows
  });
  for (std::size_t i = 0; i < names_.size(); ++i)
    writer_.attribute(vectors_path(names_[i]), "digest", stored(digest_over(comm_, own[i])));
  texts_.add("contents\n" + contents_);
  writer_.attribute("/", "contents", contents_);
  writer_.attribute("/", "format", format_name);
  writer_.attribute("/", "digest", stored(texts_.value()));
  writer_.commit();
  // The name, too, is to survive a failure of the machine. Where a file system cannot do that it does no harm.
  if (!comm_.is_root()) return;
  const OpenFile folder(std::filesystem::path(path_).parent_path().string(), O_RDONLY | O_DIRECTORY);
  if (folder.ok()) ::fsync(folder.descriptor());
}

CheckpointReader::CheckpointReader(const Communicator& comm, const std::string& path) : comm_(comm), path_(path) {
  comm.collectively([&] {
    reading(path, [&] {
      file_ = std::make_shared<const Hdf5File>(path);
      const auto format = file_->text_attribute("/", "format");
      require(format.has_value(), fmt::format("checkpoint: {} is no checkpoint of this program", path));
      require(*format == format_name,
              fmt::format("checkpoint: {} is a \"{}\", this program reads a \"{}\"", path, *format, format_name));
      read_texts();
    });
  });
  for (const auto& [name, shape] : vectors_) verify_vectors(name);
}

void CheckpointReader::read_texts() {
  const std::string contents = file_->text_attribute("/", "contents").value_or("");
  Digest digest;
  digest.add("contents\n" + contents);
  std::istringstream list(contents);
  std::string kind, name;
  while (list >> kind >> name) {
    if (kind == text_kind) {
      texts_[name] = file_->text_attribute("/", name).value_or("");
      digest.add(name + "\n" + texts_[name]);
    } else if (kind == numbers_kind) {
      read_numbers(name);
    } else if (kind == vectors_kind) {
      vectors_[name] = whole_dataset(vectors_path(name), 2).shape();
    }
  }
  require_intact(has_digest(*file_, "/", digest.value()), path_, "the list of its contents");
}

Hdf5Dataset CheckpointReader::whole_dataset(const std::string& object, std::size_t dimensions) const {
  Hdf5Dataset dataset = file_->dataset(object);
  require_intact(dataset.shape().size() == dimensions && dataset.is_whole(), path_, object);
  return dataset;
}

void CheckpointReader::read_numbers(const std::string& name) {
  const Hdf5Dataset dataset = whole_dataset(numbers_path(name), 1);
  std::vector<double> values(static_cast<std::size_t>(dataset.size()));
  if (!values.empty()) dataset.read({{0, dataset.size()}}, values.data());
  Digest digest;
  digest.add(0, std::span<const double>(values));
  require_intact(has_digest(*file_, numbers_path(name), digest.value()), path_, numbers_path(name));
  numbers_[name] = std::move(values);
}

void CheckpointReader::verify_vectors(const std::string& name) const {
  constexpr std::int64_t piece = 1 << 20;  // values at a time
  const std::vector<std::int64_t>& shape = vectors_.at(name);
  const Partition part = Partition::uniform(shape[0], comm_.size());
  Digest digest;
  comm_.collectively([&] {
    reading(path_, [&] {
      const Hdf5Dataset dataset = file_->dataset(vectors_path(name));
      const std::int64_t step = std::max<std::int64_t>(piece / std::max<std::int64_t>(shape[1], 1), 1);
      const std::int64_t end = part.begin(comm_.rank()) + part.size(comm_.rank());
      std::vector<double> values;
      for (std::int64_t first = part.begin(comm_.rank()); first < end; first += step) {
        const std::int64_t count = std::min(step, end - first);
        values.resize(static_cast<std::size_t>(count * shape[1]));
        dataset.read({{first, count}, {0, shape[1]}}, values.data());
        digest.add_by_threads(static_cast<std::uint64_t>(first * shape[1]), std::span<const double>(values));
      }
    });
  });
  const std::uint64_t found = digest.over(comm_);
  comm_.collectively([&] {
    reading(path_,
            [&] { require_intact(has_digest(*file_, vectors_path(name), found), path_, vectors_path(name)); });
  });
}

std::string CheckpointReader::text(const std::string& name) const {
  const auto there = texts_.find(name);
  return there != texts_.end() ? there->second : "";
}

GlobalIndex CheckpointReader::rows(const std::string& name) const {
  const auto there = vectors_.find(name);
  return there != vectors_.end() ? there->second[0] : 0;
}

LocalIndex CheckpointReader::columns(const std::string& name) const {
  const auto there = vectors_.find(name);
  return there != vectors_.end() ? static_cast<LocalIndex>(there->second[1]) : 0;
}

void CheckpointReader::rows(const std::string& name, GlobalIndex first, std::int64_t count, double* out) const {
  const std::int64_t width = columns(name);
  if (count * width == 0) return;
  reading(path_, [&] { file_->dataset(vectors_path(name)).read({{first, count}, {0, width}}, out); });
}

std::vector<double> CheckpointReader::vectors(const std::string& name, const Partition& partition) const {
  std::vector<double> values;
  comm_.collectively([&] {
    const std::int64_t count = partition.size(comm_.rank());
    values.resize(static_cast<std::size_t>(count * columns(name)));
    rows(name, partition.begin(comm_.rank()), count, values.data());
  });
  return values;
}

template void CheckpointWriter::vectors(const std::string&, const Partition&, LocalIndex, RowPieces<float>);
template void CheckpointWriter::vectors(const std::string&, const Partition&, LocalIndex, RowPieces<double>);
template void CheckpointWriter::vectors(const std::string&, const Partition&, LocalIndex, std::vector<float>);
template void CheckpointWriter::vectors(const std::string&, const Partition&, LocalIndex, std::vector<double>);

}  // namespace block_eigs
