#pragma once

#include <cstdint>
#include <string>

#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_handle.hpp"

namespace block_eigs {

/// Reads a range of a list of numbers from where its bytes lie in the file, by all threads: the library reads and
/// converts with one. False, with nothing done, where they do not lie there as they are: stored in chunks, with
/// filters, in other files, in another byte order or as other types than integers of 32 or 64 bits and the two
/// usual floating-point ones; and where the range is short. Throws InputError where the file is cut off.
bool read_in_place(const Hdf5Handle& dataset, const std::string& path, Hdf5Range range, double* out);
bool read_in_place(const Hdf5Handle& dataset, const std::string& path, Hdf5Range range, std::int64_t* out);

}  // namespace block_eigs
