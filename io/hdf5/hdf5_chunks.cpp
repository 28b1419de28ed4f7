#include "io/hdf5/hdf5_chunks.hpp"

#include <hdf5.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "io/hdf5/chunk_filters.hpp"
#include "io/hdf5/hdf5_errors.hpp"
#include "spmm/error.hpp"
#include "spmm/first_error.hpp"

namespace block_eigs {

namespace {

/// Of smaller chunks finding them is the work, of larger ones a thread would need much memory.
constexpr std::int64_t least_bytes = std::int64_t{4} << 10;
constexpr std::int64_t most_bytes = std::int64_t{64} << 20;
/// What all threads may take for chunks that they work on, each up to this many times a chunk's size.
constexpr std::int64_t bytes_at_work = std::int64_t{512} << 20;
constexpr std::int64_t copies = 4;
/// The library looks for each chunk from the first one on. So many bytes have to be read for a look that finding
/// does not take longer than the library would take to read and unpack them.
constexpr std::int64_t bytes_a_look = 100;
constexpr std::int64_t packed_bytes_a_look = 10;

struct Chunk {
  std::int64_t place = 0;  ///< of its first byte in the file
  std::size_t bytes = 0;   ///< that it takes there
  std::uint32_t mask = 0;  ///< of filters that it was written without
};

/// Nothing where there are others than those that undo_filters knows.
std::optional<ChunkFilters> filters_of(hid_t creation) {
  ChunkFilters filters;
  for (int i = 0; i < H5Pget_nfilters(creation); ++i) {
    unsigned flags = 0;
    unsigned config = 0;
    unsigned values[8] = {};
    std::size_t count = std::size(values);
    switch (H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &count, values, 0, nullptr, &config)) {
      case H5Z_FILTER_DEFLATE:
        filters.push_back({ChunkFilter::Kind::deflate});
        break;
      case H5Z_FILTER_SHUFFLE:
        if (count != 1 || values[0] == 0) return {};
        filters.push_back({ChunkFilter::Kind::shuffle, values[0]});
        break;
      case H5Z_FILTER_FLETCHER32:
        filters.push_back({ChunkFilter::Kind::fletcher32});
        break;
      default:
        return {};
    }
  }
  return filters;
}

/// Elements of a chunk of a list; 0 where it is none, or chunks are not all written alike.
std::int64_t length_of_chunk(hid_t creation) {
  hsize_t length = 0;
  unsigned options = 0;
  const bool alike = H5Pget_layout(creation) == H5D_CHUNKED && H5Pget_chunk(creation, 1, &length) == 1 &&
                     H5Pget_chunk_opts(creation, &options) >= 0 && options == 0;
  return alike ? static_cast<std::int64_t>(length) : 0;
}

/// Bytes before HDF5's own. Versions of the library differ in whether places of chunks count from them.
std::int64_t bytes_before(hid_t dataset) {
  const Hdf5Handle file(H5Iget_file_id(dataset), H5Fclose);
  const Hdf5Handle creation(H5Fget_create_plist(file.id()), H5Pclose);
  hsize_t bytes = 0;
  return H5Pget_userblock(creation.id(), &bytes) >= 0 ? static_cast<std::int64_t>(bytes) : -1;
}

std::vector<std::byte> stored_bytes(const InputFile& file, const Chunk& chunk) {
  std::vector<std::byte> bytes(chunk.bytes);
  file.read(chunk.place, bytes.data(), bytes.size());
  return bytes;
}

/// Nothing where that cannot be, or there is no memory for it: the library has less at a time.
std::optional<std::vector<std::byte>> unpacked(const InputFile& file, const Chunk& chunk,
                                               const ChunkFilters& filters, std::size_t wanted) {
  try {
    return undo_filters(filters, chunk.mask, stored_bytes(file, chunk), wanted);
  } catch (const std::bad_alloc&) {
    return {};
  }
}

bool lies_in(const InputFile& file, const Chunk& chunk) {
  const std::int64_t end = file.size() - static_cast<std::int64_t>(chunk.bytes);
  return chunk.place >= 0 && chunk.place <= end;
}

/// Whether reading finds the chunk that telling where it is has found: by other ways, which in a damaged index
/// lead to different ones.
bool is_read_alike(hid_t dataset, hsize_t at, hsize_t bytes) {
  hsize_t read = 0;
  return H5Dget_chunk_storage_size(dataset, &at, &read) >= 0 && read == bytes;
}

bool lie_apart(const std::vector<Chunk>& chunks) {
  std::vector<std::int64_t> places;
  for (const Chunk& chunk : chunks) places.push_back(chunk.place);
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) == places.end();
}

/// Chunks first .. first + count - 1; empty where one is not there, or not in the file.
std::vector<Chunk> find_chunks(hid_t dataset, const InputFile& file, std::int64_t first, std::int64_t count,
                               std::int64_t length, std::size_t most) {
  std::vector<Chunk> chunks;
  for (std::int64_t c = first; c < first + count; ++c) {
    const std::int64_t begin = c * length;
    const auto at = static_cast<hsize_t>(begin);
    unsigned mask = 0;
    haddr_t place = HADDR_UNDEF;
    hsize_t bytes = 0;
    const bool found = H5Dget_chunk_info_by_coord(dataset, &at, &mask, &place, &bytes) >= 0 &&
                       place <= static_cast<haddr_t>(file.size()) && bytes > 0 && bytes <= most &&
                       is_read_alike(dataset, at, bytes);
    if (!found) return {};
    chunks.push_back({static_cast<std::int64_t>(place), static_cast<std::size_t>(bytes), mask});
  }
  if (!lie_apart(chunks)) return {};
  return chunks;
}

/// Moves the places of `chunks` by `before` bytes if that is where the library finds the first one. False where it
/// is neither there nor where it was said to be, or where that cannot be told apart.
bool place_behind(hid_t dataset, const InputFile& file, hsize_t first, std::int64_t before,
                  std::vector<Chunk>& chunks) {
  std::vector<std::byte> bytes(chunks.front().bytes);
  std::uint32_t mask = 0;
  if (H5Dread_chunk(dataset, H5P_DEFAULT, &first, &mask, bytes.data()) < 0) return false;
  Chunk moved = chunks.front();
  moved.place += before;
  const auto is_there = [&](const Chunk& chunk) {
    return lies_in(file, chunk) && stored_bytes(file, chunk) == bytes;
  };
  const bool as_said = is_there(chunks.front());
  const bool behind = is_there(moved);
  if (as_said == behind) return false;
  for (Chunk& chunk : chunks) chunk.place += behind ? before : 0;
  return true;
}

}  // namespace

bool read_chunks(const Hdf5Handle& dataset, const InputFile& file, Hdf5Range range, std::size_t width,
                 const std::function<void(const std::byte*, std::int64_t, std::int64_t)>& take) {
  const QuietHdf5 quiet;
  const Hdf5Handle creation(H5Dget_create_plist(dataset.id()), H5Pclose);
  const std::int64_t length = length_of_chunk(creation.id());
  const std::int64_t step = static_cast<std::int64_t>(width);
  if (length < least_bytes / step || length > most_bytes / step) return false;
  const std::optional<ChunkFilters> filters = filters_of(creation.id());
  if (!filters) return false;
  const std::int64_t first = range.first / length;
  const std::int64_t count = (range.first + range.count - 1) / length - first + 1;
  const std::int64_t before = bytes_before(dataset.id());
  const bool packed = std::any_of(filters->begin(), filters->end(), [](const ChunkFilter& filter) {
    return filter.kind == ChunkFilter::Kind::deflate;
  });
  const std::int64_t most_looks = range.count * step / (packed ? packed_bytes_a_look : bytes_a_look);
  if (count < 2 || before < 0 || count > most_looks / (first + count)) return false;
  const auto bytes_of_chunk = static_cast<std::size_t>(length) * width;
  // Where packing made it larger, the library has left it out.
  std::vector<Chunk> chunks = find_chunks(dataset.id(), file, first, count, length, 2 * bytes_of_chunk);
  if (chunks.empty()) return false;
  const std::int64_t first_element = first * length;
  if (before > 0 && !place_behind(dataset.id(), file, static_cast<hsize_t>(first_element), before, chunks))
    return false;
  if (!std::all_of(chunks.begin(), chunks.end(), [&](const Chunk& chunk) { return lies_in(file, chunk); }))
    return false;
  std::atomic<bool> sound = true;
  FirstError failure;
  const std::int64_t at_work = std::max<std::int64_t>(1, bytes_at_work / (copies * length * step));
  std::atomic<std::int64_t> next = 0;
  // All threads, of which as many take chunks as memory allows: OpenMP would end those that a smaller team leaves
  // over.
#pragma omp parallel
  for (std::int64_t c = 0; omp_get_thread_num() < at_work && (c = next++) < count;) {
    failure.run([&] {
      if (!sound) return;
      const std::optional<std::vector<std::byte>> bytes =
          unpacked(file, chunks[static_cast<std::size_t>(c)], *filters, bytes_of_chunk);
      if (!bytes) {
        sound = false;
        return;
      }
      const std::int64_t begin = (first + c) * length;
      const std::int64_t from = std::max(begin, range.first);
      const std::int64_t to = std::min(begin + length, range.first + range.count);
      take(bytes->data() + (from - begin) * step, from - range.first, to - from);
    });
  }
  failure.rethrow();
  return sound;
}

}  // namespace block_eigs
