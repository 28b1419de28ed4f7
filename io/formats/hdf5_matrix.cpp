#include "io/formats/hdf5_matrix.hpp"

#include <fmt/format.h>

#include <utility>

#include "io/files/input_file.hpp"
#include "io/files/listed.hpp"
#include "io/formats/hdf5_layout.hpp"
#include "io/source/array_source.hpp"
#include "io/source/check_matrix.hpp"
#include "io/source/compressed_matrix.hpp"
#include "io/source/symmetry.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

enum class Content { indices, values };

/// One-dimensional dataset as an array source.
class Hdf5Array : public ArraySource {
 public:
  /// An empty `object` makes an array without elements.
  Hdf5Array(const Communicator& comm, const Hdf5File& file, const std::string& object, Content content)
      : comm_(comm) {
    name_ = file.path() + ":" + object;
    if (object.empty()) return;
    dataset_ = file.dataset(object);
    require(dataset_.shape().size() == 1,
            fmt::format("{}: has {} dimensions; a list is needed", name_, dataset_.shape().size()));
    const Hdf5Kind kind = dataset_.kind();
    require(kind != Hdf5Kind::complex,
            fmt::format("{}: holds complex values ({}); real ones are needed", name_, dataset_.type_name()));
    const bool fits = kind == Hdf5Kind::integer || (kind == Hdf5Kind::floating && content == Content::values);
    require(fits, fmt::format("{}: holds {}; {} are needed", name_, dataset_.type_name(),
                              content == Content::values ? "numbers" : "integers"));
    size_ = dataset_.size();
  }

  Offset size() const override { return size_; }
  const std::string& name() const override { return name_; }
  void read(Offset first, Offset count, std::int64_t* out) override {
    comm_.collectively([&] { dataset_.read({{first, count}}, out); });
  }
  void read(Offset first, Offset count, double* out) override {
    comm_.collectively([&] { dataset_.read({{first, count}}, out); });
  }

 private:
  Communicator comm_;
  std::string name_;
  Hdf5Dataset dataset_;
  Offset size_ = 0;
};

class Hdf5Matrix : public MatrixSource {
 public:
  Hdf5Matrix(const Communicator& comm, std::shared_ptr<const Hdf5File> file, const std::string& group)
      : comm_(comm),
        file_(std::move(file)),
        group_(group),
        layout_(sparse_layout(*file_, group)),
        pointers_(comm, *file_, layout_.pointers, Content::indices),
        indices_(comm, *file_, layout_.indices, Content::indices),
        values_(comm, *file_, layout_.values, Content::values) {
    require(indices_.size() == values_.size(),
            fmt::format("{} has {} elements, but {} has {}; there must be as many", indices_.name(),
                        indices_.size(), values_.name(), values_.size()));
  }

  GlobalIndex rows() const override { return layout_.rows; }
  GlobalIndex columns() const override { return layout_.columns; }
  std::string description() const override { return file_->path() + ":" + group_; }

  /// What the ranks have to agree about.
  std::string seen() const {
    return fmt::format("{} {} {} {} {} {} {} {} {}", layout_.rows, layout_.columns,
                       static_cast<int>(layout_.orientation), layout_.pointers, layout_.indices, layout_.values,
                       pointers_.size(), indices_.size(), values_.size());
  }

  CsrRows read(const Partition& partition) override {
    const CompressedEntries entries{indices_, values_};
    if (layout_.orientation == Orientation::columns) {
      const Partition by_columns = Partition::uniform(layout_.columns, comm_.size());
      const auto positions = read_pointers(comm_, by_columns, pointers_, indices_.size());
      return read_by_columns(comm_, partition, by_columns, positions, entries);
    }
    auto positions = read_pointers(comm_, partition, pointers_, indices_.size());
    CsrRows rows = read_by_rows(comm_, partition, layout_.columns, std::move(positions), entries);
    if (layout_.orientation == Orientation::unsaid) require_indifferent(partition, rows);
    return rows;
  }

 private:
  /// Rows read as columns, or the other way round, are the same only where the matrix is symmetric. Collective.
  void require_indifferent(const Partition& partition, const CsrRows& rows) const {
    const double found = asymmetry(comm_, partition, rows);
    comm_.collectively([&] {
      if (!comm_.is_root() || found <= symmetry_tolerance) return;
      throw InputError(
          fmt::format("{}: does not say whether it is stored by rows or by columns, and it is not symmetric; add "
                      "an attribute (h5py: group.attrs['encoding-type'] = 'csr_matrix' or 'csc_matrix')",
                      description()));
    });
  }

  Communicator comm_;
  std::shared_ptr<const Hdf5File> file_;
  std::string group_;
  SparseLayout layout_;
  Hdf5Array pointers_;
  Hdf5Array indices_;
  Hdf5Array values_;
};

std::string chosen_group(const Hdf5File& file, const std::string& asked) {
  if (!asked.empty() && (is_sparse_group(file, asked) || file.has_object(asked))) return asked;
  const auto candidates = sparse_groups(file);
  const std::string list =
      candidates.empty() ? "it has no sparse group" : fmt::format("its sparse groups are {}", listed(candidates));
  require(asked.empty(), fmt::format("{}: has no dataset {}; {}", file.path(), asked, list));
  require(!candidates.empty(), fmt::format("{}: holds no sparse matrix: no group with data, indices, indptr "
                                           "(AnnData, h5py) or data, ir, jc (MATLAB "
                                           "v7.3, sparse)",
                                           file.path()));
  require(candidates.size() == 1, fmt::format("{}: {}; say which one with 'dataset'", file.path(), list));
  return candidates.front();
}

}  // namespace

std::vector<std::string> sparse_groups(const Hdf5File& file) {
  std::vector<std::string> found;
  for (const std::string& object : file.objects()) {
    if (is_sparse_group(file, object)) found.push_back(object);
  }
  return found;
}

std::unique_ptr<MatrixSource> open_hdf5_matrix(const Communicator& comm, const std::string& path,
                                               const std::string& group) {
  const auto file = open_hdf5(comm, path);
  std::unique_ptr<Hdf5Matrix> source;
  comm.collectively([&] {
    const std::string absolute = group.empty() || group.front() == '/' ? group : "/" + group;
    source = std::make_unique<Hdf5Matrix>(comm, file, chosen_group(*file, absolute));
  });
  require_seen_alike(comm, path, source->seen());
  return source;
}

}  // namespace block_eigs
