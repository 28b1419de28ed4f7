#pragma once

#include <cstddef>
#include <string>

namespace block_eigs {

/// Bytes of address space that the process may still take under its limit (RLIMIT_AS, `ulimit -v`); the largest
/// number where there is none.
std::size_t address_space_left();

/// Whether one more mapping of `bytes` could be made now, whatever it is that may forbid it: a limit, or a system
/// that promises no more memory than it has.
bool has_room_for(std::size_t bytes);

/// For messages on memory that lacks: " (address space is limited to 500 MiB by ulimit -v)", empty without a
/// limit.
std::string address_space_remark();

}  // namespace block_eigs
