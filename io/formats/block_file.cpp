#include "io/formats/block_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "io/files/input_file.hpp"
#include "io/formats/matrix_file.hpp"
#include "io/formats/matrix_market.hpp"
#include "io/hdf5/hdf5_file.hpp"
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
  }

  const std::string& name() const { return dataset_.name(); }
  GlobalIndex rows() const { return rows_; }
  GlobalIndex columns() const { return columns_; }

  /// Columns of the given rows into `out`, whose rows are `stride` apart.
  void read(Hdf5Range rows, Hdf5Range columns, double* out, LocalIndex stride) const {
    if (rows.count == 0 || columns.count == 0) return;
    const std::int64_t step = std::max<std::int64_t>(1, piece / 8 / columns.count);
    std::vector<double> values(static_cast<std::size_t>(std::min(step, rows.count) * columns.count));
    for (std::int64_t done = 0; done < rows.count; done += step) {
      const Hdf5Range now{rows.first + done, std::min(step, rows.count - done)};
      if (dataset_.shape().size() == 1) {
        dataset_.read({now}, values.data());
      } else {
        dataset_.read(transposed_ ? std::vector{columns, now} : std::vector{now, columns}, values.data());
      }
      place(values, now.count, columns.count, out + done * stride, stride);
      require_finite(values, now, columns);
    }
  }

 private:
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

  void require_finite(const std::vector<double>& values, Hdf5Range rows, Hdf5Range columns) const {
    const auto end = values.begin() + rows.count * columns.count;
    const auto bad = std::find_if(values.begin(), end, [](double v) { return !std::isfinite(v); });
    if (bad == end) return;
    const std::int64_t at = bad - values.begin();
    throw InputError(
        fmt::format("{}: the value at row {}, column {} (counted from 0) is {}; all values must be finite", name(),
                    rows.first + (transposed_ ? at % rows.count : at / columns.count),
                    columns.first + (transposed_ ? at / rows.count : at % columns.count),
                    std::isnan(*bad) ? std::abs(*bad) : *bad));
  }

  Hdf5Dataset dataset_;
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
    std::vector<double> values;
    comm_.collectively([&] {
      const Hdf5Range own{partition.begin(comm_.rank()), partition.size(comm_.rank())};
      values.resize(static_cast<std::size_t>(own.count) * static_cast<std::size_t>(count));
      GlobalIndex part_begin = 0;
      for (const DenseDataset& part : parts_) {
        const GlobalIndex begin = std::max(first, part_begin);
        const GlobalIndex end = std::min(first + count, part_begin + part.columns());
        if (begin < end) part.read(own, {begin - part_begin, end - begin}, values.data() + (begin - first), count);
        part_begin += part.columns();
      }
    });
    return values;
  }

 private:
  Communicator comm_;
  std::shared_ptr<const Hdf5File> file_;
  std::vector<DenseDataset> parts_;
  GlobalIndex columns_ = 0;
};

std::vector<std::string> dense_datasets(const Hdf5File& file) {
  std::vector<std::string> found;
  for (const std::string& object : file.objects()) {
    if (!file.has_dataset(object)) continue;
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
                                              : fmt::format("its datasets are {}", fmt::join(candidates, ", "));
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
  return source;
}

}  // namespace block_eigs
