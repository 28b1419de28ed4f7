#pragma once

#include <cstdint>
#include <string>

#include "io/formats/npy_header.hpp"
#include "io/formats/npz_file.hpp"

namespace block_eigs {

/// Reads all of an array from its first byte to its last by the calling thread, and verifies the checksum. The
/// archive is opened anew, so that other threads may read other arrays of it meanwhile. Throws InputError. Not
/// collective.
void read_compressed(const NpzFile& archive, const std::string& array, const NpyHeader& header, double* out);
void read_compressed(const NpzFile& archive, const std::string& array, const NpyHeader& header, std::int64_t* out);

}  // namespace block_eigs
