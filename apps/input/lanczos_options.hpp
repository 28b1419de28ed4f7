#pragma once

#include "solver/lanczos/lanczos_shape.hpp"
#include "solver/lobpcg/lobpcg.hpp"

namespace block_eigs {

/// What a Lanczos iteration for the pairs that lobpcg is asked for is to do: all of them at once, however many a
/// window of lobpcg holds, and a few beside them, as its block has.
LanczosOptions lanczos_options(const LobpcgOptions& options);

/// Whether solves for eigenpairs with factors begin with it, in a space of so many dimensions that is not solved
/// densely.
bool starts_by_lanczos(const LobpcgOptions& options, GlobalIndex dimension);

}  // namespace block_eigs
