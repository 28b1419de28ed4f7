#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "io/files/input_file.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_handle.hpp"

namespace block_eigs {

/// Reads a range of a list that is stored in chunks, the library saying where these lie, and undoes HDF5's own
/// filters by all threads. take(bytes, first, count) gets the elements first .. first + count - 1 of the range,
/// `width` bytes each, by several threads at once. False where the library has to do it, whatever was taken by
/// then: other filters, chunks that are not there, few ones or tiny ones, and damage, of which it has the right
/// words.
bool read_chunks(const Hdf5Handle& dataset, const InputFile& file, Hdf5Range range, std::size_t width,
                 const std::function<void(const std::byte* bytes, std::int64_t first, std::int64_t count)>& take);

}  // namespace block_eigs
