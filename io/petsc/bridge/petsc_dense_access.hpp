#pragma once

#include "io/petsc/bridge/petsc_handles.hpp"

namespace block_eigs::petsc {

/// Numbers of a dense matrix's own rows where PETSc has the latest of them, on its GPU or on the host; what was
/// begun must be ended. PETSc's error codes. Not collective.
int begin_read_anywhere(_p_Mat* m, const double** data, bool* on_gpu);
int end_read_anywhere(_p_Mat* m, const double** data);
int begin_write_anywhere(_p_Mat* m, double** data, bool* on_gpu);
int end_write_anywhere(_p_Mat* m, double** data);

}  // namespace block_eigs::petsc
