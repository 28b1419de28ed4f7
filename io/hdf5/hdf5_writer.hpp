#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/hdf5/hdf5_storage.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/unfinished_files.hpp"

namespace block_eigs {

/// Writes an HDF5 file that appears whole or not at all: it grows beside its final path and is renamed by
/// `commit`; without that it is removed again. Rank 0 alone writes the structure and the small datasets. Large
/// datasets are contiguous, so rank 0 asks HDF5 where their bytes lie in the file and every rank writes its own
/// rows there: parallel with any HDF5 library, serial or parallel, and a full disk is an ordinary error on the
/// rank that meets it. Every member function is collective and throws RunError on all ranks when one of them fails
/// to write; arguments other than own rows are those of rank 0. Objects are named from the root: "/A/data";
/// parents are made as needed.
class Hdf5Writer {
 public:
  using Shape = Hdf5Storage::Shape;

  /// Throws InputError where the folder is missing or not writable, where it is not one that every rank sees, and
  /// where `path` is something other than a file. An existing file stays as it is until commit.
  Hdf5Writer(const Communicator& comm, const std::string& path);
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;
  ~Hdf5Writer();

  void group(const std::string& name);
  void attribute(const std::string& object, const std::string& name, const std::string& text);
  void attribute(const std::string& object, const std::string& name, const char* text);
  void attribute(const std::string& object, const std::string& name, double value);
  void attribute(const std::string& object, const std::string& name, std::int64_t value);
  /// As h5py writes a bool: an enumeration of FALSE and TRUE.
  void attribute(const std::string& object, const std::string& name, bool value);
  void attribute(const std::string& object, const std::string& name, std::span<const std::int64_t> values);

  /// Small dataset of the given shape, row-major.
  void dataset(const std::string& name, const Shape& shape, std::span<const double> values);
  void dataset(const std::string& name, const Shape& shape, std::span<const std::int64_t> values);
  /// Booleans as h5py reads and writes them.
  void dataset(const std::string& name, const std::vector<bool>& values);
  void dataset(const std::string& name, const std::vector<std::string>& texts);

  /// Large dataset of `shape` whose own part, along the first dimension, starts at `first` (own rows times row
  /// length values). Ranks may have any parts that do not overlap; parts that nobody writes are undefined.
  void rows(const std::string& name, const Shape& shape, std::int64_t first, std::span<const double> values);
  void rows(const std::string& name, const Shape& shape, std::int64_t first, std::span<const float> values);
  void rows(const std::string& name, const Shape& shape, std::int64_t first, std::span<const std::int64_t> values);
  void rows(const std::string& name, const Shape& shape, std::int64_t first, std::span<const std::int32_t> values);

  /// Makes a large dataset of `shape` without contents, for who writes them himself: returns the byte of the file
  /// at partial() where row `first` begins. They have to be on the disk before commit.
  std::int64_t place(const std::string& name, const Shape& shape, std::int64_t first, Hdf5Element element);
  /// The path of the file while it grows.
  const std::string& partial() const { return partial_; }

  /// Makes the file complete and gives it its name, in place of what was there. Nothing may be written afterwards.
  void commit();

 private:
  /// Runs `write` on rank 0; its failure is one of all ranks.
  template <class Step>
  void on_root(Step&& write);
  void write_rows(const std::string& name, const Shape& shape, std::int64_t first, Hdf5Element element,
                  std::span<const std::byte> bytes);

  Communicator comm_;
  std::string path_;
  std::string partial_;
  std::unique_ptr<Hdf5Storage> storage_;  ///< rank 0 only, until commit
  std::optional<UnfinishedFile> unfinished_;
};

}  // namespace block_eigs
