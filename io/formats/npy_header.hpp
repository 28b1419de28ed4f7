#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace block_eigs {

/// What a .npy array (NumPy's format, versions 1 to 3) says of itself before its elements.
struct NpyHeader {
  char kind =
      'f';  ///< NumPy's letter: b bool, i signed, u unsigned, f floating, c complex, S bytes, U text, O object
  std::int64_t width = 8;  ///< bytes an element
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::int64_t data_offset = 0;  ///< bytes before the first element

  std::int64_t size() const;
  /// "int32", "complex128"
  std::string type_name() const;
};

/// Bytes from the start of an array within which its header ends, for arrays that NumPy writes.
inline constexpr std::size_t npy_head_size = 4096;

/// `head`: the first npy_head_size bytes, or all where there are fewer. Throws InputError that starts with `name`.
NpyHeader parse_npy_header(const std::string& head, const std::string& name);

/// `count` elements at `bytes` of kind b, i, u or f (the latter of 4 or 8 bytes) as numbers; unsigned ones beyond
/// 63 bits become negative.
void convert_npy(const NpyHeader& header, const char* bytes, std::size_t count, double* out);
void convert_npy(const NpyHeader& header, const char* bytes, std::size_t count, std::int64_t* out);

/// True where convert_npy can take the elements.
bool is_npy_integer(const NpyHeader& header);
bool is_npy_number(const NpyHeader& header);

/// The text of a one-element array of kind S or U, given the whole array; empty for others.
std::string npy_text(const NpyHeader& header, const std::string& array);

}  // namespace block_eigs
