#include "io/formats/hdf5_layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "io/files/extents.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

std::string child(const std::string& group, const char* name) { return (group == "/" ? "" : group) + "/" + name; }

bool is_matlab(const Hdf5File& file, const std::string& group) {
  return file.integer_attribute(group, "MATLAB_sparse").has_value() && file.has_dataset(child(group, "jc"));
}

bool is_anndata(const Hdf5File& file, const std::string& group) {
  return file.has_dataset(child(group, "indptr")) && file.has_dataset(child(group, "indices"));
}

std::optional<std::string> text(const Hdf5File& file, const std::string& group, const char* name) {
  auto found = file.text_attribute(group, name);
  return found || !file.has_dataset(child(group, name)) ? found : file.text_dataset(child(group, name));
}

Orientation orientation_of(const Hdf5File& file, const std::string& group) {
  for (const char* name : {"encoding-type", "h5sparse_format", "format"}) {
    const auto said = text(file, group, name);
    if (!said) continue;
    if (*said == "csr_matrix" || *said == "csr") return Orientation::rows;
    if (*said == "csc_matrix" || *said == "csc") return Orientation::columns;
    throw InputError(fmt::format("{}:{}: its {} is '{}'; sparse matrices are read as 'csr_matrix' or 'csc_matrix'",
                                 file.path(), group, name, *said));
  }
  return Orientation::unsaid;
}

std::vector<std::int64_t> shape_of(const Hdf5File& file, const std::string& group) {
  for (const char* name : {"shape", "h5sparse_shape"}) {
    if (auto shape = file.integer_attribute(group, name)) return *shape;
  }
  const std::string name = child(group, "shape");
  require(file.has_dataset(name),
          fmt::format("{}:{}: does not say its shape; add it (h5py: group.attrs['shape'] = A.shape)", file.path(),
                      group));
  const Hdf5Dataset dataset = file.dataset(name);
  require(dataset.shape() == std::vector<std::int64_t>{2} && dataset.kind() == Hdf5Kind::integer,
          fmt::format("{}: must be a list of two integers", dataset.name()));
  std::vector<std::int64_t> shape(2);
  dataset.read({{0, 2}}, shape.data());
  return shape;
}

void require_length(const Hdf5File& file, const std::string& pointers, GlobalIndex wanted,
                    const std::string& why) {
  const Hdf5Dataset dataset = file.dataset(pointers);
  if (dataset.size() == wanted + 1) return;
  throw InputError(
      fmt::format("{}: has {} elements; {} needs {}", dataset.name(), dataset.size(), why, wanted + 1));
}

SparseLayout anndata_layout(const Hdf5File& file, const std::string& group) {
  const auto shape = shape_of(file, group);
  require(shape.size() == 2 && is_extent(shape[0]) && is_extent(shape[1]),
          fmt::format("{}:{}: its shape is ({}); it must be two numbers of rows and columns", file.path(), group,
                      fmt::join(shape, ", ")));
  SparseLayout layout{shape[0],
                      shape[1],
                      orientation_of(file, group),
                      child(group, "indptr"),
                      child(group, "indices"),
                      child(group, "data")};
  const std::string size = fmt::format("a matrix of shape ({}, {})", shape[0], shape[1]);
  if (layout.orientation == Orientation::unsaid && shape[0] != shape[1]) {
    const auto pointers = file.dataset(layout.pointers).size();
    if (pointers == shape[0] + 1) layout.orientation = Orientation::rows;
    if (pointers == shape[1] + 1) layout.orientation = Orientation::columns;
  }
  const bool by_columns = layout.orientation == Orientation::columns;
  require_length(file, layout.pointers, by_columns ? shape[1] : shape[0],
                 (by_columns ? "by columns, " : "by rows, ") + size);
  return layout;
}

SparseLayout matlab_layout(const Hdf5File& file, const std::string& group) {
  SparseLayout layout;
  layout.rows = file.integer_attribute(group, "MATLAB_sparse")->front();
  layout.pointers = child(group, "jc");
  layout.columns = file.dataset(layout.pointers).size() - 1;
  layout.orientation = Orientation::columns;
  require(is_extent(layout.rows) && is_extent(layout.columns),
          fmt::format("{}:{}: its MATLAB_sparse attribute or jc gives an impossible size", file.path(), group));
  // MATLAB leaves out ir and data where there are no nonzeros.
  if (file.has_dataset(child(group, "ir")) || file.has_dataset(child(group, "data"))) {
    layout.indices = child(group, "ir");
    layout.values = child(group, "data");
  }
  return layout;
}

std::string what_is_there(const Hdf5File& file, const std::string& group) {
  if (file.has_dataset(group)) return "is a dataset";
  return file.has_group(group) ? "is a group without indptr and indices" : "is not in the file";
}

}  // namespace

bool is_sparse_group(const Hdf5File& file, const std::string& group) {
  return file.has_group(group) && (is_anndata(file, group) || is_matlab(file, group));
}

SparseLayout sparse_layout(const Hdf5File& file, const std::string& group) {
  if (!is_sparse_group(file, group)) {
    throw InputError(
        fmt::format("{}:{}: {}; a group with data, indices, indptr and shape (AnnData, h5py) or data, ir, jc "
                    "(MATLAB v7.3, sparse) is needed",
                    file.path(), group, what_is_there(file, group)));
  }
  SparseLayout layout = is_anndata(file, group) ? anndata_layout(file, group) : matlab_layout(file, group);
  for (const std::string& name : {layout.indices, layout.values}) {
    if (!name.empty()) require(file.has_dataset(name), fmt::format("{}:{}: is missing", file.path(), name));
  }
  return layout;
}

}  // namespace block_eigs
