#pragma once

#include "io/petsc/bridge/petsc_handles.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs::petsc {

/// Which rank owns which rows of A, and which entries of x in A x. `a` has its layout. Not collective; throw
/// RunError where PETSc fails, InputError where a rank has more than 2^31 - 1 of them.
Partition row_partition(_p_Mat* a);
Partition column_partition(_p_Mat* a);

}  // namespace block_eigs::petsc
