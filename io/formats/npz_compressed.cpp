#include "io/formats/npz_compressed.hpp"

#include <algorithm>
#include <vector>

#include "io/files/read_in_pieces.hpp"

namespace block_eigs {

namespace {

template <class T>
void read_whole(const NpzFile& archive, const std::string& array, const NpyHeader& header, T* out) {
  const NpzFile own(archive.path());  // an archive serves one thread at a time
  NpzFile::Stream stream(own, array);
  stream.skip(static_cast<std::size_t>(header.data_offset));
  const std::int64_t step = std::max<std::int64_t>(1, piece_bytes / header.width);
  std::vector<char> bytes;
  for (std::int64_t at = 0; at < header.size(); at += step) {
    const auto count = static_cast<std::size_t>(std::min(step, header.size() - at));
    bytes.resize(count * static_cast<std::size_t>(header.width));
    stream.read(bytes.data(), bytes.size());
    convert_npy(header, bytes.data(), count, out + at);
  }
  stream.finish();
}

}  // namespace

void read_compressed(const NpzFile& archive, const std::string& array, const NpyHeader& header, double* out) {
  read_whole(archive, array, header, out);
}

void read_compressed(const NpzFile& archive, const std::string& array, const NpyHeader& header,
                     std::int64_t* out) {
  read_whole(archive, array, header, out);
}

}  // namespace block_eigs
