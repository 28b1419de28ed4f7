// What a run leaves to go on from.
#include "io/checkpoint/checkpoint_file.hpp"
#include "tests/fuzz/reader.hpp"
#include "tests/fuzz/worker.hpp"

using namespace block_eigs;

namespace {

int read(const std::uint8_t* data, std::size_t size) {
  const std::string& path = fuzz::as_file(data, size);
  fuzz::check_reader([&] {
    const CheckpointReader reader(fuzz::self(), path);
    // As it says: what it holds has digests that are right.
    for (const char* name : {"x", "p", "eigenvectors", "solution"}) {
      if (reader.columns(name) > 0) reader.vectors(name, Partition::uniform(reader.rows(name), 1));
    }
  });
  return 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run_apart(read, data, size);
}
