#pragma once

#include <cstddef>
#include <vector>

#include "tests/fuzz/mutations.hpp"

namespace block_eigs::fuzz {

/// Bytes [first, first + count) of a file.
struct Part {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// What HDF5 keeps beside the data (HDF5 File Format Specification 3.0): the superblock, messages of object
/// headers (shape, type, layout, filters, attributes), nodes of trees, heaps and lists of links.
std::vector<Part> hdf5_structures(const Bytes& file);

/// Structures that end with a checksum which is right, that checksum left out.
std::vector<Part> hdf5_checksummed(const Bytes& file);

/// Makes the checksum behind each of `parts` right again.
void mend_checksums(Bytes& file, const std::vector<Part>& parts);

/// One change of a file: most are numbers or bytes in a structure, under checksums that are right.
void mutate_hdf5(Bytes& file, Draw& draw);

}  // namespace block_eigs::fuzz
