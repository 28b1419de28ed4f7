#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/checkpoint/digest.hpp"
#include "io/checkpoint/row_writer.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_writer.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// The state of a run in one HDF5 file that appears whole or not at all, in place of an older one (docs/formats.md
/// lists what it holds). Ranks write their own rows of vectors, where wanted in the background; all that is
/// written has a digest, by which a reader finds damage. Member functions are collective but where they say
/// otherwise, and throw RunError on all ranks when writing fails; the older file stands then, also where this goes
/// without commit.
class CheckpointWriter {
 public:
  CheckpointWriter(const Communicator& comm, const std::string& path);

  /// Texts and numbers are those of rank 0.
  void text(const std::string& name, const std::string& text);
  void numbers(const std::string& name, const std::vector<double>& values);
  /// Own rows of [partition.rows()][columns], `columns` not 0. They are asked for when start or commit write them,
  /// and must not change until then. T is float or double.
  template <class T>
  void vectors(const std::string& name, const Partition& partition, LocalIndex columns, RowPieces<T> pieces);
  /// The same of values that are there, row-major.
  template <class T>
  void vectors(const std::string& name, const Partition& partition, LocalIndex columns, std::vector<T> values);

  /// Has a thread of every rank write the rows, after everything else; nothing but busy and commit may follow.
  void start();
  /// Whether the thread of this rank is at work. Not collective.
  bool busy() const { return rows_ && rows_->busy(); }
  /// Waits for the threads, or writes the rows where none were started; then puts the file in its place, on the
  /// disk. Nothing can be written after it.
  void commit();

 private:
  void place(const std::string& name, const Partition& partition, LocalIndex columns, RowsToWrite rows);

  Communicator comm_;
  std::string path_;
  Hdf5Writer writer_;
  std::string contents_;
  Digest texts_;
  std::vector<std::string> names_;  ///< of vectors
  std::vector<RowsToWrite> work_;
  std::unique_ptr<RowWriter> rows_;
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
  /// Rows first .. first + count - 1 in the same way, to `out`. Not collective; throws InputError.
  void rows(const std::string& name, GlobalIndex first, std::int64_t count, double* out) const;

 private:
  void read_texts();
  /// One that the file holds as many bytes for as its shape takes: a damaged shape asks for no memory and no time.
  Hdf5Dataset whole_dataset(const std::string& object, std::size_t dimensions) const;
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
