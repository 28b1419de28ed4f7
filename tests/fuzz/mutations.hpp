#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

/// libFuzzer's own change of `data`, which has room for `most` bytes; returns the new size.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace block_eigs::fuzz {

using Bytes = std::vector<std::uint8_t>;

/// Random numbers of one change.
class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  /// 0 .. count - 1; 0 where count is 0.
  std::size_t below(std::size_t count) { return count == 0 ? 0 : engine_() % count; }

 private:
  std::minstd_rand engine_;
};

/// libFuzzer's own change of all of `bytes`, which may grow to `most`.
void mutate_within(Bytes& bytes, std::size_t most);

/// The same where the size must stay: of `count` bytes from `first` on.
void mutate_part(Bytes& bytes, std::size_t first, std::size_t count);

/// Writes a number at which readers go wrong (0, 1, limits of all widths, sizes of a file) in 1, 2, 4 or 8 bytes
/// at or behind `first`, within `count` bytes.
void plant_number(Bytes& bytes, std::size_t first, std::size_t count, Draw& draw);

/// Replaces one decimal number in the first `count` bytes by such a one; the bytes grow or shrink.
void plant_digits(Bytes& bytes, std::size_t count, Draw& draw);

}  // namespace block_eigs::fuzz
