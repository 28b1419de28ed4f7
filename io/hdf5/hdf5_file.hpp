#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5/hdf5_handle.hpp"
#include "io/hdf5/hdf5_types.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// Elements [first, first + count) along one dimension.
struct Hdf5Range {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Numeric dataset open for reading. Not collective.
class Hdf5Dataset {
 public:
  /// "/data/thermal2.h5:/A/indices"
  const std::string& name() const { return name_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::int64_t size() const { return size_; }
  Hdf5Kind kind() const { return kind_; }
  /// In HDF5's or NumPy's words, for messages: "float64", "int32", "compound", "string".
  const std::string& type_name() const { return type_name_; }
  /// Whether the file says that it holds as many bytes as the elements take, and is as long as that: parts that
  /// were never written, and packed ones, are not held.
  bool is_whole() const;

  /// The part of the dataset that `ranges` (one a dimension) cut out, row-major, converted from whatever width and
  /// byte order the file has. Throws InputError with HDF5's reason.
  void read(const std::vector<Hdf5Range>& ranges, double* out) const;
  void read(const std::vector<Hdf5Range>& ranges, std::int64_t* out) const;

 private:
  friend class Hdf5File;
  void read_as(std::int64_t type, const std::vector<Hdf5Range>& ranges, void* out) const;

  std::string name_;
  std::string path_;  ///< of the file
  std::vector<std::int64_t> shape_;
  std::int64_t size_ = 0;
  Hdf5Kind kind_ = Hdf5Kind::other;
  std::string type_name_;
  Hdf5Handle dataset_;
};

/// HDF5 file open for reading. Every rank opens the file for itself and reads its own hyperslabs by plain POSIX
/// reads: that is as parallel as MPI-IO for reading, works with a serial HDF5 library as well, honours the file
/// locks of other programs, and a broken chunk on one rank leaves no other rank waiting in a collective call.
/// Nothing here is collective. Functions throw InputError that names file and object. Paths within the file are
/// absolute, as "/A/data".
class Hdf5File {
 public:
  explicit Hdf5File(const std::string& path);

  const std::string& path() const { return path_; }  ///< absolute
  bool has_group(const std::string& object) const;
  bool has_dataset(const std::string& object) const;
  bool has_object(const std::string& object) const { return has_group(object) || has_dataset(object); }
  /// Every group or dataset of the file, "/" first, each before what it holds, by name; MATLAB's own groups
  /// (#refs#) are left out, and what has several names is there under the first.
  std::vector<std::string> objects() const;

  /// The dataset, its shape and type. Throws where a filter that its data need is not at hand, or where it has
  /// more elements than 63 bits count in bytes.
  Hdf5Dataset dataset(const std::string& object) const;

  /// A string attribute of a group or dataset, of fixed or variable length.
  std::optional<std::string> text_attribute(const std::string& object, const std::string& name) const;
  /// A numeric attribute, scalar or array. Throws where it holds fractions.
  std::optional<std::vector<std::int64_t>> integer_attribute(const std::string& object,
                                                             const std::string& name) const;
  /// The text of a scalar string dataset.
  std::optional<std::string> text_dataset(const std::string& object) const;

 private:
  int object_type(const std::string& object) const;

  std::string path_;
  Hdf5Handle file_;
};

/// Collective: opens `path` on every rank; all fail if one does.
std::shared_ptr<const Hdf5File> open_hdf5(const Communicator& comm, const std::string& path);

}  // namespace block_eigs
