#pragma once

#include <cstdint>
#include <string>

#include "io/files/byte_stream.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// What stands before the entries of a Matrix Market file (Boisvert, Pozo, Remington, The Matrix Market exchange
/// formats, NISTIR 5935, 1996).
struct MatrixMarketHeader {
  enum class Format { coordinate, array };
  enum class Field { real, integer, pattern };
  enum class Symmetry { general, symmetric, skew_symmetric };

  Format format = Format::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  GlobalIndex rows = 0;
  GlobalIndex columns = 0;
  Offset entries = 0;            ///< lines to come, or numbers of an array
  std::int64_t size_line = 0;    ///< number of the line with the sizes, counted from 1
  std::int64_t body_offset = 0;  ///< bytes before the first entry, decompressed
};

/// The text up to and including the line with the sizes. Throws InputError where the file is no Matrix Market
/// file.
std::string read_matrix_market_header(ByteStream& stream);

/// Throws InputError that names `path` and the line.
MatrixMarketHeader parse_matrix_market_header(const std::string& text, const std::string& path);

}  // namespace block_eigs
