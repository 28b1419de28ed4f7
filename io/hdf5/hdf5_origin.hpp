#pragma once

#include <cstdint>
#include <string>

#include "io/files/input_file.hpp"

namespace block_eigs {

/// The file that the open HDF5 `object` is in, as HDF5 was given its name: a link may have led to another one than
/// was opened first.
std::string path_of_file(std::int64_t object);

/// Whether the file that `object` is in is `same`, and not one that has taken its name since it was opened. False
/// where that cannot be told. Not collective.
bool is_open_in(std::int64_t object, const InputFile& same);

/// Throws InputError where the file that `object` is in has become shorter since it was opened: HDF5 takes zeros
/// for what is missing and says nothing. Of use after reading; not collective.
void require_not_shrunk(std::int64_t object);

}  // namespace block_eigs
