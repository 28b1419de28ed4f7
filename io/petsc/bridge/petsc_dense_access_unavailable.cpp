// Where this build or its PETSc has no CUDA, all is on the host.
#include <petscmat.h>

#include "io/petsc/bridge/petsc_dense_access.hpp"

namespace block_eigs::petsc {

int begin_read_anywhere(_p_Mat* m, const double** data, bool* on_gpu) {
  *on_gpu = false;
  return MatDenseGetArrayRead(m, data);
}

int end_read_anywhere(_p_Mat* m, const double** data) { return MatDenseRestoreArrayRead(m, data); }

int begin_write_anywhere(_p_Mat* m, double** data, bool* on_gpu) {
  *on_gpu = false;
  return MatDenseGetArrayWrite(m, data);
}

int end_write_anywhere(_p_Mat* m, double** data) { return MatDenseRestoreArrayWrite(m, data); }

}  // namespace block_eigs::petsc
