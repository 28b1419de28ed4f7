// What a .npy array says of itself.
#include "io/formats/npy_header.hpp"

#include <vector>

#include "tests/fuzz/reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace block_eigs;
  const std::string head(data, data + size);
  fuzz::check_reader([&] {
    const NpyHeader header = parse_npy_header(head, "a");
    npy_text(header, head);
    const auto left = static_cast<std::int64_t>(head.size()) - header.data_offset;
    if (left < 0 || !is_npy_number(header)) return;
    const std::size_t count = static_cast<std::size_t>(left / header.width);
    std::vector<double> numbers(count);
    convert_npy(header, head.data() + header.data_offset, count, numbers.data());
    std::vector<std::int64_t> integers(count);
    if (is_npy_integer(header)) convert_npy(header, head.data() + header.data_offset, count, integers.data());
  });
  return 0;
}
