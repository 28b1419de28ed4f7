#pragma once

#include <cstdint>
#include <string>

namespace block_eigs {

/// What the elements of a dataset are. `integer` includes booleans as h5py writes them; `complex` is a compound of
/// two floating-point members.
enum class Hdf5Kind { integer, floating, complex, other };

/// Of an HDF5 datatype, open as `type`.
Hdf5Kind kind_of(std::int64_t type);

/// In HDF5's or NumPy's words, for messages: "float64", "int32", "compound", "string".
std::string name_of_type(std::int64_t type);

}  // namespace block_eigs
