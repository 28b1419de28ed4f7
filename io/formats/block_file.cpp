#include "io/formats/block_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

#include "io/files/input_file.hpp"
#include "io/files/listed.hpp"
#include "io/formats/matrix_file.hpp"
#include "io/formats/matrix_market.hpp"
#include "io/hdf5/column_checksums.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/source/memory_room.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Bytes of one piece of a dataset that lies transposed.
constexpr std::int64_t piece = std::int64_t{64} << 20;

/// Dataset of one or two dimensions, seen as rows x columns.
class DenseDataset {
 public:
  DenseDataset(const Hdf5File& file, const std::string& object) : dataset_(file.dataset(object)) {
    const auto& shape = dataset_.shape();
    const Hdf5Kind kind = dataset_.kind();
    if (kind == Hdf5Kind::complex)
      throw InputError(fmt::format("{}: holds complex values; real ones are needed", name()));
    require(kind == Hdf5Kind::integer || kind == Hdf5Kind::floating,
            fmt::format("{}: holds {}; numbers are needed", name(), dataset_.type_name()));
    require(shape.size() == 1 || shape.size() == 2,
            fmt::format("{}: has {} dimensions; vectors need one or two, [n, m]", name(), shape.size()));
    transposed_ = shape.size() == 2 && file.text_attribute(object, "MATLAB_class").has_value();
    rows_ = transposed_ ? shape[1] : shape[0];
    columns_ = shape.size() == 1 ? 1 : shape[transposed_ ? 0 : 1];
    // Those of integers are of other bits than these numbers will have.
    if (kind == Hdf5Kind::floating && !transposed_) expected_ = stored_checksums(file, object, columns_);
  }

  const std::string& name() const { return dataset_.name(); }
  GlobalIndex rows() const { return rows_; }
  GlobalIndex columns() const { return columns_; }

  /// Columns of the given rows into `out`, whose rows are `stride` apart. Where the file has checksums of them,
  /// the rows' part of it is added to `sums`.
  void read(Hdf5Range rows, Hdf5Range columns, double* out, LocalIndex stride,
            std::span<std::uint64_t> sums) const {
    if (rows.count == 0 || columns.count == 0) return;
    const bool in_place = !transposed_ && stride == columns.count;
    const std::int64_t step = std::max<std::int64_t>(1, piece / 8 / columns.count);
    std::vector<double> values(in_place ? 0
                                        : static_cast<std::size_t>(std::min(step, rows.count) * columns.count));
    for (std::int64_t done = 0; done < rows.count; done += step) {
      const Hdf5Range now{rows.first + done, std::min(step, rows.count - done)};
      double* const to = in_place ? out + done * stride : values.data();
      if (dataset_.shape().size() == 1) {
        dataset_.read({now}, to);
      } else {
        dataset_.read(transposed_ ? std::vector{columns, now} : std::vector{now, columns}, to);
      }
      examine(to, now, columns, sums);
      if (!in_place) place(values, now.count, columns.count, out + done * stride, stride);
    }
  }

  /// Throws where the sums over all rows of `columns` are not those that the file has.
  void require_checksums(Hdf5Range columns, std::span<const std::uint64_t> sums) const {
    if (expected_.empty()) return;
    for (std::size_t j = 0; j < sums.size(); ++j) {
      const auto column = static_cast<std::size_t>(columns.first) + j;
      require(
          sums[j] == expected_[column],
          fmt::format("{}: column {} (counted from 0) does not agree with its checksum; the file was damaged, or "
                      "changed by another program, which should then have removed the group {}",
                      name(), column, checksums_group));
    }
  }

 private:
  /// Finite values, checksums, in one pass through memory.
  void examine(const double* values, Hdf5Range rows, Hdf5Range columns, std::span<std::uint64_t> sums) const {
    constexpr std::int64_t near = 8192;  // numbers that stay in the cache in between
    const std::int64_t step = transposed_ ? rows.count : std::max<std::int64_t>(1, near / columns.count);
    for (std::int64_t done = 0; done < rows.count; done += step) {
      const Hdf5Range now{rows.first + done, std::min(step, rows.count - done)};
      const std::span<const double> read(values + done * columns.count,
                                         static_cast<std::size_t>(now.count * columns.count));
      require_finite(read, now, columns);
      if (expected_.empty()) continue;
      if (dataset_.type_name() == "float32") {
        add_checksums_as_float(read, now.first, sums);
      } else {
        add_checksums(read, now.first, sums);
      }
    }
  }

  void place(const std::vector<double>& values, std::int64_t rows, std::int64_t columns, double* out,
             LocalIndex stride) const {
    const std::int64_t row_step = transposed_ ? 1 : columns;
    const std::int64_t column_step = transposed_ ? rows : 1;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        out[i * stride + j] = values[static_cast<std::size_t>(i * row_step + j * column_step)];
      }
    }
  }

  void require_finite(std::span<const double> values, Hdf5Range rows, Hdf5Range columns) const {
    const auto bad = std::find_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); });
    if (bad == values.end()) return;
    const std::int64_t at = bad - values.begin();
    throw InputError(
        fmt::format("{}: the value at row {}, column {} (counted from 0) is {}; all values must be finite", name(),
                    rows.first + (transposed_ ? at % rows.count : at / columns.count),
                    columns.first + (transposed_ ? at / rows.count : at % columns.count),
                    std::isnan(*bad) ? std::abs(*bad) : *bad));
  }

  Hdf5Dataset dataset_;
  std::vector<std::uint64_t> expected_;  ///< checksums of the columns; empty where the file has none
  GlobalIndex rows_ = 0;
  GlobalIndex columns_ = 0;
  bool transposed_ = false;
};

/// Datasets of one file side by side.
class Hdf5Block : public BlockSource {
 public:
  Hdf5Block(const Communicator& comm, std::shared_ptr<const Hdf5File> file,
            const std::vector<std::string>& objects)
      : comm_(comm), file_(std::move(file)) {
    for (const std::string& object : objects) {
      parts_.emplace_back(*file_, object);
      columns_ += parts_.back().columns();
      if (parts_.back().rows() == parts_.front().rows()) continue;
      throw InputError(fmt::format("{} has {} rows, but {} has {}; vectors of one block must be equally long",
                                   parts_.front().name(), parts_.front().rows(), parts_.back().name(),
                                   parts_.back().rows()));
    }
  }

  GlobalIndex rows() const override { return parts_.front().rows(); }
  GlobalIndex columns() const override { return columns_; }
  std::string description() const override {
    return parts_.size() == 1 ? parts_.front().name()
                              : fmt::format("{} and {} more", parts_.front().name(), parts_.size() - 1);
  }

  std::vector<double> read(const Partition& partition, GlobalIndex first, LocalIndex count) override {
    const Hdf5Range own{partition.begin(comm_.rank()), partition.size(comm_.rank())};
    require_memory(comm_, 8.0 * static_cast<double>(own.count) * count,
                   fmt::format("{}: {} vectors of {} rows", description(), count, rows()));
    std::vector<double> values;
    std::vector<std::uint64_t> sums;
    comm_.collectively([&] {
      values.resize(static_cast<std::size_t>(own.count) * static_cast<std::size_t>(count));
      sums.assign(static_cast<std::size_t>(count), 0);
      for_each_part(first, count, [&](const DenseDataset& part, Hdf5Range columns, GlobalIndex at) {
        part.read(own, columns, values.data() + at, count, part_of(sums, at, columns.count));
      });
    });
    add_over_ranks(comm_, sums);
    comm_.collectively([&] {
      if (!comm_.is_root()) return;
      for_each_part(first, count, [&](const DenseDataset& part, Hdf5Range columns, GlobalIndex at) {
        part.require_checksums(columns, part_of(sums, at, columns.count));
      });
    });
    return values;
  }

 private:
  static std::span<std::uint64_t> part_of(std::span<std::uint64_t> sums, GlobalIndex at, std::int64_t count) {
    return sums.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(count));
  }

  /// Calls use(part, its columns, number of the first of these among those asked for).
  template <class Use>
  void for_each_part(GlobalIndex first, LocalIndex count, const Use& use) const {
    GlobalIndex part_begin = 0;
    for (const DenseDataset& part : parts_) {
      const GlobalIndex begin = std::max(first, part_begin);
      const GlobalIndex end = std::min(first + count, part_begin + part.columns());
      if (begin < end) use(part, Hdf5Range{begin - part_begin, end - begin}, begin - first);
      part_begin += part.columns();
    }
  }

  Communicator comm_;
  std::shared_ptr<const Hdf5File> file_;
  std::vector<DenseDataset> parts_;
  GlobalIndex columns_ = 0;
};

std::vector<std::string> dense_datasets(const Hdf5File& file) {
  std::vector<std::string> found;
  for (const std::string& object : file.objects()) {
    if (!file.has_dataset(object) || object.starts_with(std::string(checksums_group) + "/")) continue;
    const Hdf5Dataset dataset = file.dataset(object);
    const bool fits = dataset.kind() == Hdf5Kind::floating || dataset.kind() == Hdf5Kind::integer;
    if (fits && (dataset.shape().size() == 1 || dataset.shape().size() == 2)) found.push_back(object);
  }
  return found;
}

std::vector<std::string> chosen_datasets(const Hdf5File& file, const std::vector<std::string>& asked) {
  std::vector<std::string> chosen;
  chosen.reserve(asked.size());
  for (const std::string& name : asked) chosen.push_back(name.starts_with("/") ? name : "/" + name);
  const auto missing =
      std::find_if(chosen.begin(), chosen.end(), [&](const auto& name) { return !file.has_dataset(name); });
  if (!chosen.empty() && missing == chosen.end()) return chosen;
  if (missing != chosen.end() && file.has_group(*missing)) {
    throw InputError(fmt::format("{}:{}: is a group; a dataset [n, m] is needed", file.path(), *missing));
  }
  auto candidates = dense_datasets(file);
  const std::string list = candidates.empty() ? "it has no dataset of numbers in one or two dimensions"
                                              : fmt::format("its datasets are {}", listed(candidates));
  if (missing != chosen.end())
    throw InputError(fmt::format("{}: has no dataset {}; {}", file.path(), *missing, list));
  if (candidates.size() == 1) return candidates;
  throw InputError(fmt::format("{}: {}; say which one with 'dataset'", file.path(), list));
}

}  // namespace

std::unique_ptr<BlockSource> open_block_file(const Communicator& comm, const std::string& path,
                                             const std::vector<std::string>& datasets) {
  require_readable(comm, path);
  FileFormat format{};
  comm.collectively([&] {
    format = matrix_file_format(path);
    const std::string absolute = absolute_path(path);
    require(format == FileFormat::hdf5 || format == FileFormat::matrix_market,
            fmt::format("{}: holds a sparse matrix; vectors are read from HDF5 and Matrix Market array files",
                        absolute));
    require(format == FileFormat::hdf5 || datasets.empty(),
            fmt::format("{}: is a Matrix Market file; leave out 'dataset', which is for HDF5 files", absolute));
  });
  if (format == FileFormat::matrix_market) return open_matrix_market_array(comm, path);
  const auto file = open_hdf5(comm, path);
  std::unique_ptr<BlockSource> source;
  comm.collectively([&] { source = std::make_unique<Hdf5Block>(comm, file, chosen_datasets(*file, datasets)); });
  require_seen_alike(comm, path,
                     fmt::format("{} {} {}", source->rows(), source->columns(), source->description()));
  return source;
}

}  // namespace block_eigs
