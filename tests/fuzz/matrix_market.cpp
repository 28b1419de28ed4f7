// Matrix Market text: matrices and dense arrays.
#include "tests/fuzz/reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string& path = block_eigs::fuzz::as_file(data, size);
  block_eigs::fuzz::read_matrix(path);
  block_eigs::fuzz::read_block(path);
  return 0;
}
