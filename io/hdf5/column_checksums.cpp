#include "io/hdf5/column_checksums.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstddef>

#include "spmm/error.hpp"
#include "spmm/scatter_bits.hpp"

namespace block_eigs {

namespace {

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }
std::uint64_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

template <class Stored, class T>
void add(std::span<const T> values, std::int64_t first, std::span<std::uint64_t> sums) {
  const std::size_t columns = sums.size();
  if (columns == 0) return;
  auto* const sum = sums.data();
  const std::size_t rows = values.size() / columns;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint64_t row = (static_cast<std::uint64_t>(first) + i + 1) * golden_step;
    const T* const value = values.data() + i * columns;
    for (std::size_t j = 0; j < columns; ++j) sum[j] += scatter_bits(bits(static_cast<Stored>(value[j])) + row);
  }
}

}  // namespace

void add_checksums(std::span<const double> values, std::int64_t first, std::span<std::uint64_t> sums) {
  add<double>(values, first, sums);
}
void add_checksums(std::span<const float> values, std::int64_t first, std::span<std::uint64_t> sums) {
  add<float>(values, first, sums);
}
void add_checksums(std::span<const std::int64_t> values, std::int64_t first, std::span<std::uint64_t> sums) {
  add<std::int64_t>(values, first, sums);
}
void add_checksums_as_float(std::span<const double> values, std::int64_t first, std::span<std::uint64_t> sums) {
  add<float>(values, first, sums);
}

void add_over_ranks(const Communicator& comm, std::span<std::uint64_t> sums) {
  // In halves, for the sum of signed numbers must not overflow.
  std::vector<std::int64_t> halves(2 * sums.size());
  for (std::size_t j = 0; j < sums.size(); ++j) {
    halves[2 * j] = static_cast<std::int64_t>(sums[j] & 0xffffffffU);
    halves[2 * j + 1] = static_cast<std::int64_t>(sums[j] >> 32);
  }
  comm.sum(std::span<std::int64_t>(halves));
  for (std::size_t j = 0; j < sums.size(); ++j) {
    sums[j] = static_cast<std::uint64_t>(halves[2 * j]) + (static_cast<std::uint64_t>(halves[2 * j + 1]) << 32);
  }
}

std::vector<std::uint64_t> stored_checksums(const Hdf5File& file, const std::string& object,
                                            std::int64_t columns) {
  const std::string name = checksums_group + object;
  if (!file.has_group(checksums_group) || !file.has_dataset(name)) return {};
  const Hdf5Dataset dataset = file.dataset(name);
  require(dataset.shape().size() == 1 && dataset.kind() == Hdf5Kind::integer && dataset.size() == columns,
          fmt::format("{}: has not a checksum for each of the {} columns of {}; the file is damaged",
                      dataset.name(), columns, object));
  std::vector<std::int64_t> stored(static_cast<std::size_t>(columns));
  dataset.read({{0, columns}}, stored.data());
  return {stored.begin(), stored.end()};
}

}  // namespace block_eigs
