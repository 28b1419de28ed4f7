#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io/files/line_source.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// As open_lines, for a file that rank 0 decompresses and deals out. Collective; throws on all ranks.
std::unique_ptr<LineSource> open_gzip_lines(const Communicator& comm, const std::string& path, std::int64_t offset,
                                            std::int64_t first_line);

}  // namespace block_eigs
