#pragma once

#include "io/petsc/bridge/petsc_handles.hpp"
#include "spmm/parallel/transport.hpp"

namespace block_eigs::petsc {

/// The way of the halos of `a`, a matrix of type blockcsr: -mat_blockcsr_halo with the matrix's own prefix, in the
/// words of the config (auto where nothing is said). Read when products are set up. Not collective; throws
/// InputError on other words.
HaloWay halo_way_of(_p_Mat* a);

}  // namespace block_eigs::petsc
