#include "io/checkpoint/digest.hpp"

#include <array>
#include <bit>

namespace block_eigs {

namespace {

/// splitmix64 (Steele, Lea, Flood, OOPSLA 2014): every bit of the result depends on every bit of x.
std::uint64_t scattered(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

void Digest::add(std::uint64_t place, double value) {
  sum_ += scattered(scattered(place) ^ std::bit_cast<std::uint64_t>(value));
}

void Digest::add(std::uint64_t row, std::uint64_t column, double value) { add(scattered(row) + column, value); }

void Digest::add(std::string_view text) {
  std::uint64_t state = scattered(text.size());
  for (const char letter : text) state = scattered(state ^ static_cast<unsigned char>(letter));
  sum_ += state;
}

std::uint64_t Digest::over(const Communicator& comm) const {
  // Sums of halves stay within signed numbers.
  constexpr int half = 32;
  std::array<std::int64_t, 2> halves{static_cast<std::int64_t>(sum_ & 0xffffffffULL),
                                     static_cast<std::int64_t>(sum_ >> half)};
  comm.sum(halves);
  return static_cast<std::uint64_t>(halves[0]) + (static_cast<std::uint64_t>(halves[1]) << half);
}

CsrRows DigestedMatrix::read(const Partition& partition) {
  CsrRows rows = source_->read(partition);
  auto digest = std::make_shared<Digest>();
  for (std::size_t i = 0; i + 1 < rows.row_offsets.size(); ++i) {
    const auto row = static_cast<std::uint64_t>(rows.row_begin) + i;
    for (auto k = static_cast<std::size_t>(rows.row_offsets[i]);
         k < static_cast<std::size_t>(rows.row_offsets[i + 1]); ++k)
      digest->add(row, static_cast<std::uint64_t>(rows.columns[k]), rows.values[k]);
  }
  digest_ = std::move(digest);
  return rows;
}

}  // namespace block_eigs
