#pragma once

#include "apps/choice/matrix_traits.hpp"
#include "apps/config/config.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/distributed_matrix.hpp"

namespace block_eigs {

/// Adds to `traits`, which are examine()'s of `a`, how eigenvalues of `a` are spread towards the ends, as far as a
/// choice for `options` asks for it, by some products with one vector. Collective; throws on all ranks when one is
/// out of memory.
template <class T>
void look_at_spectrum(BlockSpace<T>& space, DistributedMatrix<T>& a, bool with_mass, const LobpcgOptions& options,
                      MatrixTraits& traits);

}  // namespace block_eigs
