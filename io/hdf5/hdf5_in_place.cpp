#include "io/hdf5/hdf5_in_place.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <vector>

#include "io/files/input_file.hpp"
#include "io/files/read_in_pieces.hpp"
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
      std::copy(stored.begin(), stored.end(), out + first);
    }
  });
}

template <class T>
bool read_range(const Hdf5Handle& dataset, const std::string& path, Hdf5Range range, T* out) {
  if (range.count < least_count || path_of_file(dataset.id()) != path) return false;
  const std::optional<std::int64_t> place = place_of(dataset.id());
  if (!place) return false;
  const Hdf5Handle type(H5Dget_type(dataset.id()), H5Tclose);
  const auto is = [&](hid_t native) { return H5Tequal(type.id(), native) > 0; };
  const InputFile file(path);
  if (is(H5T_NATIVE_DOUBLE) && std::is_same_v<T, double>) {
    read_as_stored<double>(file, *place, range, out);
  } else if (is(H5T_NATIVE_FLOAT) && std::is_same_v<T, double>) {
    read_as_stored<float>(file, *place, range, out);
  } else if (is(H5T_NATIVE_INT32)) {
    read_as_stored<std::int32_t>(file, *place, range, out);
  } else if (is(H5T_NATIVE_INT64)) {
    read_as_stored<std::int64_t>(file, *place, range, out);
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool read_in_place(const Hdf5Handle& dataset, const std::string& path, Hdf5Range range, double* out) {
  return read_range(dataset, path, range, out);
}

bool read_in_place(const Hdf5Handle& dataset, const std::string& path, Hdf5Range range, std::int64_t* out) {
  return read_range(dataset, path, range, out);
}

}  // namespace block_eigs
