#pragma once

#include <cstdint>
#include <string>

#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_handle.hpp"

namespace block_eigs {

/// Reads a range of a list of numbers from where its bytes lie in the file, by all threads: the library reads,
/// unpacks and converts with one. False, and the library is to do it all, where the bytes are not what they can be
/// here: of filters other than gzip, shuffle and fletcher32, in other files, in another byte order or as other
/// types than integers of 32 or 64 bits and the two usual floating-point ones; where the range is short; and where
/// chunks are damaged. Throws InputError where the file is cut off.
bool read_in_place(const Hdf5Handle& dataset, const std::string& path, Hdf5Range range, double* out);
bool read_in_place(const Hdf5Handle& dataset, const std::string& path, Hdf5Range range, std::int64_t* out);

}  // namespace block_eigs
