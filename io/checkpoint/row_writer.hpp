#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "io/files/output_path.hpp"

namespace block_eigs {

/// Rows first .. first + count - 1 of those that the calling rank has, row-major; valid until the next call. It
/// may throw, and is called by the thread that writes.
template <class T>
using RowPieces = std::function<std::span<const T>(std::int64_t first, std::int64_t count)>;

/// The calling rank's rows of one set of vectors, and where in a file they go.
struct RowsToWrite {
  std::int64_t offset = 0;  ///< byte of the file
  std::uint64_t place = 0;  ///< of the first element, for its digest
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::variant<RowPieces<float>, RowPieces<double>> pieces{};
};

/// Writes rows into a file that is there and puts them on the disk, in a thread of its own or in the calling one.
/// It knows no ranks: a thread beside the one that speaks to others makes no call of MPI or HDF5. Not collective.
class RowWriter {
 public:
  /// Of the file at `path`.
  RowWriter(std::string path, std::vector<RowsToWrite> work);
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;
  /// Waits for a thread that writes; it stops at the end of a piece.
  ~RowWriter();

  /// Has a thread begin. Throws std::system_error where there can be none.
  void start();
  /// Whether that thread is at work.
  bool busy() const noexcept { return busy_; }
  /// Waits for the thread, or does the work where none was started. Returns the digest of each set of rows.
  /// Throws RunError with the system's reason, and what `pieces` throw.
  std::vector<std::uint64_t> finish();

 private:
  void write();
  template <class T>
  void write_rows(const OpenFile& file, const RowsToWrite& rows, const RowPieces<T>& pieces);

  std::string path_;
  std::vector<RowsToWrite> work_;
  std::vector<std::uint64_t> digests_;
  std::exception_ptr failure_;
  std::atomic<bool> busy_{false};
  std::atomic<bool> unwanted_{false};
  bool done_ = false;  ///< written by the calling thread, or by the one that was joined
  std::thread thread_;
};

}  // namespace block_eigs
