#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "io/formats/matrix_market_header.hpp"
#include "io/source/csr_scatter.hpp"

namespace block_eigs {

/// What is wrong with a line; the reader adds file and line number.
class EntryError : public std::runtime_error {
 public:
  EntryError(const char* at, const std::string& what) : std::runtime_error(what), at_(at) {}
  /// A place in that line.
  const char* at() const { return at_; }

 private:
  const char* at_;
};

/// Entries seen, and how many of them below and above the diagonal.
struct EntryCounts {
  Offset entries = 0;
  Offset below = 0;
  Offset above = 0;
};

/// Parses the lines "row column value" (no value in a pattern), indices counted from 1, and appends the nonzeros
/// counted from 0; with the mirrored ones where the header says symmetric or skew-symmetric. Skips comments and
/// blank lines. Throws EntryError at a malformed line, an index out of range, a value that is not finite.
void parse_coordinate_lines(std::string_view lines, const MatrixMarketHeader& header,
                            std::vector<Triplet>& triplets, EntryCounts& counts);

/// Parses one value a line and appends it. As above.
void parse_array_lines(std::string_view lines, std::vector<double>& values);

}  // namespace block_eigs
