#include "io/checkpoint/digest.hpp"

#include <array>
#include <bit>

#include "spmm/scatter_bits.hpp"

namespace block_eigs {

namespace {

/// The number that SplitMix64 draws from state x.
constexpr std::uint64_t scattered(std::uint64_t x) { return scatter_bits(x + golden_step); }

constexpr std::uint64_t mixed(std::uint64_t place, double value) {
  return scattered(scattered(place) ^ std::bit_cast<std::uint64_t>(value));
}

std::uint64_t mixed(std::uint64_t row, std::uint64_t column, double value) {
  return mixed(scattered(row) + column, value);
}

}  // namespace

void Digest::add(std::uint64_t place, double value) { sum_ += mixed(place, value); }

void Digest::add(std::uint64_t row, std::uint64_t column, double value) { sum_ += mixed(row, column, value); }

void Digest::add(std::string_view text) {
  std::uint64_t state = scattered(text.size());
  for (const char letter : text) state = scattered(state ^ static_cast<unsigned char>(letter));
  sum_ += state;
}

template <class T>
void Digest::add(std::uint64_t first, std::span<const T> values) {
  for (const T value : values) sum_ += mixed(first++, static_cast<double>(value));
}

template <class T>
void Digest::add_by_threads(std::uint64_t first, std::span<const T> values) {
  std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (std::size_t i = 0; i < values.size(); ++i) sum += mixed(first + i, static_cast<double>(values[i]));
  sum_ += sum;
}

void Digest::add_by_threads(const CsrRows& rows) {
  const std::size_t count = rows.row_offsets.empty() ? 0 : rows.row_offsets.size() - 1;
  std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t row = static_cast<std::uint64_t>(rows.row_begin) + i;
    const auto end = static_cast<std::size_t>(rows.row_offsets[i + 1]);
    for (auto k = static_cast<std::size_t>(rows.row_offsets[i]); k < end; ++k)
      sum += mixed(row, static_cast<std::uint64_t>(rows.columns[k]), rows.values[k]);
  }
  sum_ += sum;
}

std::uint64_t digest_over(const Communicator& comm, std::uint64_t own) {
  // Sums of halves stay within signed numbers.
  constexpr int half = 32;
  std::array<std::int64_t, 2> halves{static_cast<std::int64_t>(own & 0xffffffffULL),
                                     static_cast<std::int64_t>(own >> half)};
  comm.sum(halves);
  return static_cast<std::uint64_t>(halves[0]) + (static_cast<std::uint64_t>(halves[1]) << half);
}

CsrRows DigestedMatrix::read(const Partition& partition) {
  CsrRows rows = source_->read(partition);
  auto digest = std::make_shared<Digest>();
  digest->add_by_threads(rows);
  digest_ = std::move(digest);
  return rows;
}

template void Digest::add(std::uint64_t, std::span<const float>);
template void Digest::add(std::uint64_t, std::span<const double>);
template void Digest::add_by_threads(std::uint64_t, std::span<const float>);
template void Digest::add_by_threads(std::uint64_t, std::span<const double>);

}  // namespace block_eigs
