#pragma once

#include <string>
#include <vector>

#include "tests/fuzz/mutations.hpp"

namespace block_eigs::fuzz {

/// Member of a zip archive.
struct ZipMember {
  std::string name;
  bool stored = false;  ///< else deflated
  Bytes content;        ///< as it was before it was packed
};

/// The members that can be unpacked; empty where the archive's own list is broken.
std::vector<ZipMember> read_zip(const Bytes& archive);

/// An archive whose sizes and checksums are right.
Bytes write_zip(const std::vector<ZipMember>& members);

}  // namespace block_eigs::fuzz
