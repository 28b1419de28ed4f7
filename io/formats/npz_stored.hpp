#pragma once

#include <cstdint>
#include <string>

#include "io/formats/npy_header.hpp"
#include "io/formats/npz_file.hpp"

namespace block_eigs {

/// Reads all of an array that lies in the archive as it is (NpzFile::is_stored), by several threads, each from
/// where its part begins, and verifies the checksum. Throws InputError. Not collective.
void read_stored(const NpzFile& archive, const std::string& array, const NpyHeader& header, double* out);
void read_stored(const NpzFile& archive, const std::string& array, const NpyHeader& header, std::int64_t* out);

}  // namespace block_eigs
