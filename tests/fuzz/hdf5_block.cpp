// Dense vectors in HDF5, results of a run among them.
#include <algorithm>

#include "tests/fuzz/hdf5_parts.hpp"
#include "tests/fuzz/reader.hpp"
#include "tests/fuzz/worker.hpp"

using namespace block_eigs::fuzz;

namespace {

int read(const std::uint8_t* data, std::size_t size) {
  const std::string& path = as_file(data, size);
  read_block(path);
  read_block(path, {"/eigenvectors"});
  return 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return run_apart(read, data, size);
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  Draw draw(seed);
  if (size == 0 || draw.below(8) == 0) return LLVMFuzzerMutate(data, size, most);
  Bytes file(data, data + size);
  mutate_hdf5(file, draw);
  std::copy(file.begin(), file.end(), data);
  return size;
}
