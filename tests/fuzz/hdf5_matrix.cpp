// Sparse matrices in HDF5: the layouts of AnnData, h5py and MATLAB.
#include "tests/fuzz/reader.hpp"
#include "tests/fuzz/worker.hpp"

using namespace block_eigs::fuzz;

namespace {

int read(const std::uint8_t* data, std::size_t size) {
  read_matrix(as_file(data, size));
  return 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return run_apart(read, data, size);
}
