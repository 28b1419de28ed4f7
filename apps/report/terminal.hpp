#pragma once

namespace block_eigs {

/// Whether what is written to `descriptor` (1 or 2) ends up on a terminal, so that a line may be written over.
/// Under mpirun the process writes to the launcher, and what counts is where the launcher writes.
bool shown_on_terminal(int descriptor);

}  // namespace block_eigs
