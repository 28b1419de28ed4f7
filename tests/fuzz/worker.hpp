#pragma once

#include <cstddef>
#include <cstdint>

namespace block_eigs::fuzz {

/// Runs one input in another process, for readers that rest on a library which damaged files can crash or leave in
/// disorder; what its code went through counts as if it had run here. Returns 0, or -1 where that process was
/// ended within the HDF5 library: then the place is written to the standard error and the input kept as
/// library-PLACE in the folder $BLOCK_EIGS_FUZZ_FINDINGS, each place once. Whatever else ends the other process is
/// run here, to be reported. The other process is forked once, and again after it has ended.
int run_apart(int (*run)(const std::uint8_t* data, std::size_t size), const std::uint8_t* data, std::size_t size);

}  // namespace block_eigs::fuzz
