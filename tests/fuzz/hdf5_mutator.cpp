// How libFuzzer changes HDF5 files, for both of their readers.
#include <algorithm>

#include "tests/fuzz/hdf5_parts.hpp"

using namespace block_eigs::fuzz;

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  Draw draw(seed);
  if (size == 0 || draw.below(8) == 0) return LLVMFuzzerMutate(data, size, most);
  Bytes file(data, data + size);
  mutate_hdf5(file, draw);
  std::copy(file.begin(), file.end(), data);
  return size;
}
