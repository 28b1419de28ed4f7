#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/checkpoint/digest.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_writer.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// The state of a run in one HDF5 file that appears whole or not at all, in place of an older one (docs/formats.md
/// lists what it holds). Ranks write their own rows of vectors; all that is written has a digest, by which a
/// reader finds damage. Member functions are collective and throw RunError on all ranks when writing fails; the
/// older file stands then.
class CheckpointWriter {
 public:
  CheckpointWriter(const Communicator& comm, const std::string& path);

  /// Texts and numbers are those of rank 0.
  void text(const std::string& name, const std::string& text);
  void numbers(const std::string& name, const std::vector<double>& values);
  /// Own rows of [partition.rows()][columns], row-major; `columns` not 0.
  template <class T>
  void vectors(const std::string& name, const Partition& partition, LocalIndex columns,
               const std::vector<T>& values);

  /// Puts the file in its place, on the disk; nothing can be written after it.
  void commit();

 private:
  Communicator comm_;
  std::string path_;
  Hdf5Writer writer_;
  std::string contents_;
  Digest texts_;
};

/// Such a file, read. Every byte of it that counts has been compared with its digest when the constructor returns.
class CheckpointReader {
 public:
  /// Collective. Throws InputError on all ranks, in one sentence, where this is no checkpoint, where it is of
  /// another version, and where it is damaged.
  CheckpointReader(const Communicator& comm, const std::string& path);

  const std::string& path() const { return path_; }
  /// Empty where there is none of that name.
  std::string text(const std::string& name) const;
  const std::map<std::string, std::vector<double>>& numbers() const { return numbers_; }
  /// 0 where there are no such vectors.
  GlobalIndex rows(const std::string& name) const;
  LocalIndex columns(const std::string& name) const;
  /// Own rows of `partition`, row-major, all columns; what was written in float comes as it was. Collective;
  /// throws InputError on all ranks where they cannot be read any more.
  std::vector<double> vectors(const std::string& name, const Partition& partition) const;

 private:
  void read_texts();
  void read_numbers(const std::string& name);
  void verify_vectors(const std::string& name) const;

  Communicator comm_;
  std::string path_;
  std::shared_ptr<const Hdf5File> file_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::vector<double>> numbers_;
  std::map<std::string, std::vector<std::int64_t>> vectors_;  ///< their shapes
};

}  // namespace block_eigs
