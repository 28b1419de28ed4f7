// Dense vectors in HDF5, results of a run among them.
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
