#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// Text whose lines are shared out among the ranks in pieces, each line to one rank, so that all parse at once and
/// none holds the whole.
class LineSource {
 public:
  LineSource() = default;
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;
  virtual ~LineSource() = default;

  /// The next piece of whole lines of the calling rank, which may be empty; valid until the next call. False on
  /// all ranks when the text is read. Collective; throws InputError on all ranks.
  virtual bool next(std::string_view& lines) = 0;
  /// Where the last piece starts in the text; tells the order of pieces of different ranks. Not collective.
  virtual std::int64_t position() const = 0;
  /// Number in the whole text, counted from 1, of the line that holds `at`, a place in the last piece. Not
  /// collective.
  virtual std::int64_t line_number(const char* at) const = 0;
};

/// The lines of `path` from byte `offset` (decompressed) on, which is the start of line `first_line`. An
/// uncompressed file is split by byte ranges, which the ranks read for themselves. A gzip file rank 0 decompresses
/// in a stream and deals out to the others, decompressing the next pieces while they work on the last. Collective.
std::unique_ptr<LineSource> open_lines(const Communicator& comm, const std::string& path, std::int64_t offset,
                                       std::int64_t first_line);

}  // namespace block_eigs
