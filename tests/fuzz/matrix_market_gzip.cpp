// Matrix Market text compressed by gzip. Three of four inputs are changed inside: inflated, changed, deflated.
#include "tests/fuzz/deflate.hpp"
#include "tests/fuzz/mutations.hpp"
#include "tests/fuzz/reader.hpp"

using namespace block_eigs::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string& path = as_file(data, size);
  read_matrix(path);
  read_block(path);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  Draw draw(seed);
  auto text = inflate_gzip({data, data + size});
  if (text.empty() || draw.below(4) == 0) return LLVMFuzzerMutate(data, size, most);
  mutate_within(text, 4 * most);
  const Bytes packed = deflate_gzip(text);
  if (packed.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::copy(packed.begin(), packed.end(), data);
  return packed.size();
}
