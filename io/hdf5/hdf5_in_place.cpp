#include "io/hdf5/hdf5_in_place.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "io/files/input_file.hpp"
#include "io/files/read_in_pieces.hpp"
#include "io/hdf5/hdf5_chunks.hpp"
#include "io/hdf5/hdf5_origin.hpp"

namespace block_eigs {

namespace {

/// Shorter ranges are read as quickly by the library.
constexpr std::int64_t least_count = std::int64_t{1} << 17;

/// Where the first element lies in the file; nothing where the elements do not follow each other there.
std::optional<std::int64_t> place_of(hid_t dataset) {
  const Hdf5Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  if (H5Pget_layout(creation.id()) != H5D_CONTIGUOUS || H5Pget_external_count(creation.id()) != 0) return {};
  const haddr_t offset = H5Dget_offset(dataset);
  if (offset == HADDR_UNDEF) return {};
  return static_cast<std::int64_t>(offset);
}

/// The number as the library converts it.
template <class Stored, class T>
T converted(Stored value) {
  if constexpr (std::is_same_v<Stored, std::uint64_t> && std::is_same_v<T, std::int64_t>) {
    return static_cast<T>(std::min(value, static_cast<Stored>(std::numeric_limits<T>::max())));
  } else {
    return static_cast<T>(value);
  }
}

/// Elements [range.first, range.first + range.count) of type Stored, the first of all at byte `place`.
template <class Stored, class T>
void read_as_stored(const InputFile& file, std::int64_t place, Hdf5Range range, T* out) {
  constexpr std::int64_t width = sizeof(Stored);
  const std::int64_t begin = place + range.first * width;
  read_in_pieces(range.count, width, [&](std::int64_t first, std::int64_t last) {
    const auto count = static_cast<std::size_t>(last - first);
    if constexpr (std::is_same_v<Stored, T>) {
      file.read(begin + first * width, out + first, count * sizeof(Stored));
    } else {
      std::vector<Stored> stored(count);
      file.read(begin + first * width, stored.data(), count * sizeof(Stored));
      std::transform(stored.begin(), stored.end(), out + first, converted<Stored, T>);
    }
  });
}

/// The same of chunks. False where the library has to read them.
template <class Stored, class T>
bool read_of_chunks(const Hdf5Handle& dataset, const InputFile& file, Hdf5Range range, T* out) {
  return read_chunks(dataset, file, range, sizeof(Stored),
                     [&](const std::byte* bytes, std::int64_t first, std::int64_t count) {
                       for (std::int64_t k = 0; k < count; ++k) {
                         Stored value;
                         std::memcpy(&value, bytes + static_cast<std::size_t>(k) * sizeof(Stored), sizeof(Stored));
                         out[first + k] = converted<Stored, T>(value);
                       }
                     });
}

template <class T>
bool read_range(const Hdf5Handle& dataset, const std::string& path, Hdf5Range range, T* out) {
  if (range.count < least_count || path_of_file(dataset.id()) != path) return false;
  const InputFile file(path);
  if (!is_open_in(dataset.id(), file)) return false;
  const std::optional<std::int64_t> place = place_of(dataset.id());
  const auto read = [&]<class Stored>(Stored) {
    if (!place) return read_of_chunks<Stored>(dataset, file, range, out);
    read_as_stored<Stored>(file, *place, range, out);
    return true;
  };
  const Hdf5Handle type(H5Dget_type(dataset.id()), H5Tclose);
  const auto is = [&](hid_t native) { return H5Tequal(type.id(), native) > 0; };
  if (std::is_same_v<T, double> && is(H5T_NATIVE_DOUBLE)) return read(double{});
  if (std::is_same_v<T, double> && is(H5T_NATIVE_FLOAT)) return read(float{});
  if (is(H5T_NATIVE_INT32)) return read(std::int32_t{});
  if (is(H5T_NATIVE_INT64)) return read(std::int64_t{});
  if (is(H5T_NATIVE_UINT32)) return read(std::uint32_t{});
  if (is(H5T_NATIVE_UINT64)) return read(std::uint64_t{});
  return false;
}

}  // namespace

bool read_in_place(const Hdf5Handle& dataset, const std::string& path, Hdf5Range range, double* out) {
  return read_range(dataset, path, range, out);
}

bool read_in_place(const Hdf5Handle& dataset, const std::string& path, Hdf5Range range, std::int64_t* out) {
  return read_range(dataset, path, range, out);
}

}  // namespace block_eigs
