#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5/hdf5_writer.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// A preconditioner, and from which iteration on it was at work.
struct ChoiceRecord {
  std::int64_t first_iteration = 0;  ///< iterations done before
  std::string description;           ///< what was taken, and why where it was chosen
};

/// Where the time went until the result was written: seconds of every phase, the last two being what is left and
/// the whole.
struct TimesRecord {
  std::vector<std::string> phases;
  std::vector<double> mean;     ///< over ranks
  std::vector<double> slowest;  ///< of the rank that took most
};

/// Peaks in bytes of the rank that took most, beside what was predicted; 0 for a GPU where there is none.
struct MemoryRecord {
  double host = 0.0;
  double host_predicted = 0.0;
  double device = 0.0;
  double device_predicted = 0.0;
};

/// What a result file says of the run as a whole: attributes of "/", "/preconditioners", "/times".
struct RunRecord {
  std::string program;
  std::string version;
  std::string config;  ///< resolved, as YAML
  std::string matrix;  ///< where it came from
  std::int64_t rows = 0;
  std::int64_t nonzeros = 0;
  std::int64_t ranks = 1;
  std::string device;
  double setup_seconds = 0.0;
  double solve_seconds = 0.0;
  std::int64_t iterations = 0;
  std::string remark;
  bool chosen = false;              ///< preconditioners were chosen by the program
  std::string preconditioner_made;  ///< what building the first one came to; empty where that is known
  std::vector<ChoiceRecord> preconditioners;
  TimesRecord times;
  MemoryRecord memory;
};

/// What was done to know that no pair was missed: attributes of "/".
struct ProofRecord {
  std::string made = "residuals";
  std::string statement;
  std::int64_t missing = 0;
  std::int64_t recovered = 0;
  double confidence = 0.0;
  double smallest_gap = 0.0;
  double shift = 0.0;
  std::int64_t counted = -1;
  double missing_from = 0.0;
  double missing_to = 0.0;
  double seconds = 0.0;
  bool failed =
      false;  ///< a certificate was asked for, and could not be had; not in the file, where `made` is none
};

/// Eigenpairs, as many of each.
struct PairsRecord {
  std::vector<double> eigenvalues;
  std::vector<double> residual_norms;
  std::vector<double> error_bounds;  ///< NaN where none is known
  bool rigorous = false;             ///< of the bounds that are known
  std::string bounds;                ///< what they rest on: rigorous, probable or unknown
  std::vector<double> attained_tolerances;
  double requested_tolerance = 0.0;
  double orthonormality = 0.0;  ///< largest entry of |V^T B V - I|
  ProofRecord proof;
  std::vector<bool> converged;
  std::vector<std::string> status;
};

/// Solutions of linear systems, as many of each as right-hand sides.
struct SolutionsRecord {
  std::vector<double> rhs_norms;
  std::vector<double> residual_norms;            ///< computed anew
  std::vector<double> recursive_residual_norms;  ///< what the solver held them to be
  std::vector<std::int64_t> iterations;
  std::vector<bool> converged;
  std::vector<std::string> status;
};

/// One row an iteration.
struct HistoryRecord {
  std::int64_t iterations = 0;
  std::int64_t width = 0;              ///< pairs or right-hand sides
  std::vector<double> eigenvalues;     ///< iterations x width, row-major, or empty
  std::vector<double> residual_norms;  ///< iterations x width
  std::vector<double> seconds;
  std::vector<std::int64_t> active_columns;
  std::vector<std::int64_t> products;  ///< columns multiplied with A; or empty, where these are the active ones
  std::vector<bool> in_float;
};

/// Result of a run in one HDF5 file that appears whole or not at all (docs/formats.md lists what it holds),
/// numbers with their checksums (io/hdf5/column_checksums). Member functions are collective and throw RunError on
/// all ranks when the disk is full or writing fails.
class ResultFile {
 public:
  /// As Hdf5Writer; require_writable finds out before the work begins whether this will succeed.
  ResultFile(const Communicator& comm, const std::string& path);

  void describe(const RunRecord& run);
  void write(const PairsRecord& pairs);
  void write(const SolutionsRecord& solutions);
  void write(const HistoryRecord& history);
  /// Own rows of [partition.rows()][block.cols()], in the block's precision, row-major.
  template <class T>
  void write(const std::string& name, const Partition& partition, const DenseBlock<T>& block);
  /// The same from host memory: own rows of [partition.rows()][columns].
  template <class T>
  void write(const std::string& name, const Partition& partition, LocalIndex columns,
             const std::vector<T>& values);
  void write(const std::string& name, const std::vector<double>& values);
  void write(const std::string& name, const std::vector<std::int64_t>& values);

  /// Puts the file in its place; nothing can be written after it.
  void commit();

 private:
  void write(const std::vector<ChoiceRecord>& preconditioners);
  void write(const TimesRecord& times);
  void write(const MemoryRecord& memory);
  /// A list, or a table of rank 0's, row-major, and its checksums.
  template <class T>
  void write_table(const std::string& name, const Hdf5Writer::Shape& shape, const std::vector<T>& values);
  void write_checksums(const std::string& name, const std::vector<std::uint64_t>& sums);

  Communicator comm_;
  Hdf5Writer writer_;
};

}  // namespace block_eigs
