#pragma once

#include <cstddef>

#include "tests/fuzz/mutations.hpp"

namespace block_eigs::fuzz {

/// Without header and checksum, as a zip archive has it. Empty where the data are broken, or more than a MiB.
Bytes inflate_raw(const Bytes& packed);
Bytes deflate_raw(const Bytes& bytes);
/// A gzip file of one member.
Bytes inflate_gzip(const Bytes& packed);
Bytes deflate_gzip(const Bytes& bytes);

}  // namespace block_eigs::fuzz
