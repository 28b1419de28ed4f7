#pragma once

#include <string>

namespace block_eigs {

/// Bytes of memory that all processes of this node may still take together: what the system has available, or what
/// a control group (cgroup, versions 1 and 2, as containers and batch systems set them) leaves of its limit,
/// cached files not counted. Infinity where nothing is known. `root` is the root of the file system, for tests.
double shared_memory_left(const std::string& root = "");

}  // namespace block_eigs
