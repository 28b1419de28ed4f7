#include "io/petsc/bridge/petsc_dense_access.hpp"

#include <petscmat.h>

namespace block_eigs::petsc {

int begin_read_anywhere(_p_Mat* m, const double** data, bool* on_gpu) {
  PetscMemType where = PETSC_MEMTYPE_HOST;
  const PetscErrorCode code = MatDenseGetArrayReadAndMemType(m, data, &where);
  *on_gpu = PetscMemTypeDevice(where);
  return code;
}

int end_read_anywhere(_p_Mat* m, const double** data) { return MatDenseRestoreArrayReadAndMemType(m, data); }

int begin_write_anywhere(_p_Mat* m, double** data, bool* on_gpu) {
  PetscMemType where = PETSC_MEMTYPE_HOST;
  const PetscErrorCode code = MatDenseGetArrayWriteAndMemType(m, data, &where);
  *on_gpu = PetscMemTypeDevice(where);
  return code;
}

int end_write_anywhere(_p_Mat* m, double** data) { return MatDenseRestoreArrayWriteAndMemType(m, data); }

}  // namespace block_eigs::petsc
