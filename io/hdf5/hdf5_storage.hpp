#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/files/output_path.hpp"
#include "io/hdf5/hdf5_handle.hpp"

namespace block_eigs {

/// Elements of a large dataset.
enum class Hdf5Element { float32, float64, int32, int64 };

constexpr std::size_t bytes_of(Hdf5Element element) {
  return element == Hdf5Element::float32 || element == Hdf5Element::int32 ? 4 : 8;
}

/// What one process writes with HDF5: a whole file but for the contents of large datasets, which are holes. It
/// grows in memory (in the folder for temporary files where there is no /dev/shm to write to), for HDF5 cannot end
/// in good order once a write to a full disk has failed; `save` puts it on the disk. Functions throw RunError that
/// names the file and the reason. Not collective.
class Hdf5Storage {
 public:
  using Shape = std::vector<std::int64_t>;

  /// The file on the disk is made at `path`, empty; messages call it `name`.
  Hdf5Storage(std::string path, std::string name);
  Hdf5Storage(const Hdf5Storage&) = delete;
  Hdf5Storage& operator=(const Hdf5Storage&) = delete;

  void group(const std::string& name) const;
  void attribute(const std::string& object, const std::string& name, const std::string& text) const;
  void attribute(const std::string& object, const std::string& name, double value) const;
  void attribute(const std::string& object, const std::string& name, std::int64_t value) const;
  void attribute(const std::string& object, const std::string& name, bool value) const;
  void attribute(const std::string& object, const std::string& name, std::span<const std::int64_t> values) const;
  void dataset(const std::string& name, const Shape& shape, std::span<const double> values) const;
  void dataset(const std::string& name, const Shape& shape, std::span<const std::int64_t> values) const;
  void dataset(const std::string& name, const std::vector<bool>& values) const;
  void dataset(const std::string& name, const std::vector<std::string>& texts) const;

  /// Makes a dataset without contents; returns where in the file its bytes go. Room for them is set aside on the
  /// disk where the file system can do that, so that a full disk shows before anything large is under way.
  std::int64_t place(const std::string& name, const Shape& shape, Hdf5Element element);

  /// Puts everything but the large datasets into the file on the disk, which then is whole. Call it once, last.
  void save();

 private:
  void check(bool ok, const std::string& what) const;
  [[noreturn]] void fail(const std::string& what) const;
  void require_allowed(std::int64_t more) const;
  Hdf5Handle create(const std::string& name, const Shape& shape, std::int64_t type, bool large) const;
  void put_attribute(const std::string& object, const std::string& name, std::int64_t type,
                     std::span<const std::int64_t> shape, const void* value) const;
  void put_dataset(const std::string& name, const Shape& shape, std::int64_t type, const void* values) const;
  void copy_to_disk(const OpenFile& disk, std::int64_t from, std::int64_t to) const;

  std::string path_;
  std::string name_;
  std::string memory_path_;
  OpenFile memory_;
  Hdf5Handle file_;                                            ///< the same file, as HDF5 has it
  std::vector<std::pair<std::int64_t, std::int64_t>> placed_;  ///< bytes of large datasets: first, end
};

}  // namespace block_eigs
