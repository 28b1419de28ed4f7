#include "io/formats/npz_stored.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "io/files/read_in_pieces.hpp"
#include "spmm/error.hpp"
#include "spmm/first_error.hpp"

namespace block_eigs {

namespace {

/// Elements of a part: each opens the archive for itself.
constexpr std::int64_t part_elements = std::int64_t{1} << 19;

std::uint32_t checksum_of(const std::vector<char>& bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<z_size_t>(bytes.size())));
}

/// Elements begin .. end - 1; returns the checksum of their bytes, those before the first element included.
template <class T>
std::uint32_t read_part(const NpzFile& archive, const std::string& array, const NpyHeader& header,
                        std::int64_t begin, std::int64_t end, T* out) {
  const NpzFile own(archive.path());  // an archive serves one thread at a time
  NpzFile::Stream stream(own, array);
  std::uint32_t checksum = checksum_of({}, 0);
  std::vector<char> bytes;
  if (begin == 0) {
    bytes.resize(static_cast<std::size_t>(header.data_offset));
    stream.read(bytes.data(), bytes.size());
    checksum = checksum_of(bytes, checksum);
  } else {
    stream.seek(header.data_offset + begin * header.width);
  }
  const std::int64_t step = std::max<std::int64_t>(1, piece_bytes / header.width);
  for (std::int64_t at = begin; at < end; at += step) {
    const auto count = static_cast<std::size_t>(std::min(step, end - at));
    bytes.resize(count * static_cast<std::size_t>(header.width));
    stream.read(bytes.data(), bytes.size());
    checksum = checksum_of(bytes, checksum);
    convert_npy(header, bytes.data(), count, out + at);
  }
  return checksum;
}

template <class T>
void read_whole(const NpzFile& archive, const std::string& array, const NpyHeader& header, T* out) {
  const std::int64_t size = header.size();
  const std::int64_t parts = std::max<std::int64_t>(1, (size + part_elements - 1) / part_elements);
  std::vector<std::uint32_t> checksums(static_cast<std::size_t>(parts));
  FirstError failure;
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t p = 0; p < parts; ++p) {
    failure.run([&] {
      checksums[static_cast<std::size_t>(p)] =
          read_part(archive, array, header, p * part_elements, std::min(size, (p + 1) * part_elements), out);
    });
  }
  failure.rethrow();
  uLong checksum = checksums.front();
  for (std::int64_t p = 1; p < parts; ++p) {
    const std::int64_t elements = std::min(size, (p + 1) * part_elements) - p * part_elements;
    checksum = crc32_combine(checksum, checksums[static_cast<std::size_t>(p)],
                             static_cast<z_off_t>(elements * header.width));
  }
  require(checksum == archive.checksum(array),
          fmt::format("{}: {}: cannot be read: CRC error; the file is damaged", archive.path(), array));
}

}  // namespace

void read_stored(const NpzFile& archive, const std::string& array, const NpyHeader& header, double* out) {
  read_whole(archive, array, header, out);
}

void read_stored(const NpzFile& archive, const std::string& array, const NpyHeader& header, std::int64_t* out) {
  read_whole(archive, array, header, out);
}

}  // namespace block_eigs
