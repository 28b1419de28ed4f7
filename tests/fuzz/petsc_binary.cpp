// PETSc's binary matrices, and whatever else a file can be taken for.
#include "tests/fuzz/reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  block_eigs::fuzz::read_matrix(block_eigs::fuzz::as_file(data, size));
  return 0;
}
