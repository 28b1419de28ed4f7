#include "tests/fuzz/mutations.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <string>

namespace block_eigs::fuzz {

namespace {

std::uint64_t telling_number(Draw& draw, std::uint64_t size) {
  const std::array numbers{std::uint64_t{0},
                           std::uint64_t{1},
                           std::uint64_t{2},
                           std::uint64_t{7},
                           std::uint64_t{8},
                           std::uint64_t{0x7f},
                           std::uint64_t{0x80},
                           std::uint64_t{0xff},
                           std::uint64_t{0x7fff},
                           std::uint64_t{0x8000},
                           std::uint64_t{0xffff},
                           std::uint64_t{0x7fffffff},
                           std::uint64_t{0x80000000},
                           std::uint64_t{0xffffffff},
                           std::uint64_t{1} << 32,
                           std::uint64_t{1} << 40,
                           std::uint64_t{1} << 59,
                           (std::uint64_t{1} << 60) + 1,
                           std::uint64_t{1} << 61,
                           std::uint64_t{std::numeric_limits<std::int64_t>::max()},
                           std::uint64_t{1} << 63,
                           ~std::uint64_t{0},
                           ~std::uint64_t{0} - 1,
                           size,
                           size - 1,
                           size + 1,
                           size / 8,
                           size * 2};
  return numbers[draw.below(numbers.size())];
}

}  // namespace

void mutate_within(Bytes& bytes, std::size_t most) {
  const std::size_t size = bytes.size();
  bytes.resize(std::max(most, size));
  bytes.resize(LLVMFuzzerMutate(bytes.data(), size, std::max(most, size)));
}

void mutate_part(Bytes& bytes, std::size_t first, std::size_t count) {
  if (count == 0) return;
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(first);
  Bytes part(begin, begin + static_cast<std::ptrdiff_t>(count));
  const std::size_t now = LLVMFuzzerMutate(part.data(), count, count);
  std::copy_n(part.begin(), now, begin);
}

void plant_number(Bytes& bytes, std::size_t first, std::size_t count, Draw& draw) {
  const std::size_t width = std::size_t{1} << draw.below(4);
  if (count < width) return;
  const std::size_t at = first + draw.below(count - width + 1);
  std::uint64_t number = telling_number(draw, bytes.size());
  if (draw.below(4) == 0) {  // near what is there
    number = 0;
    for (std::size_t k = 0; k < width; ++k) number |= std::uint64_t{bytes[at + k]} << (8 * k);
    number += draw.below(2) == 0 ? 1 : ~std::uint64_t{0};
  }
  for (std::size_t k = 0; k < width; ++k) bytes[at + k] = static_cast<std::uint8_t>(number >> (8 * k));
}

void plant_digits(Bytes& bytes, std::size_t count, Draw& draw) {
  const auto is_digit = [](std::uint8_t c) { return std::isdigit(c) != 0; };
  const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(std::min(count, bytes.size()));
  const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(draw.below(std::min(count, bytes.size())));
  const auto first = std::find_if(from, end, is_digit);
  const auto last = std::find_if_not(first, end, is_digit);
  const std::string number = std::to_string(telling_number(draw, bytes.size()));
  bytes.insert(bytes.erase(first, last), number.begin(), number.end());
}

}  // namespace block_eigs::fuzz
