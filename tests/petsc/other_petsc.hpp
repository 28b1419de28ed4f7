#pragma once

#include <petscsys.h>

namespace block_eigs::test {

/// What the functions of other_petsc.cpp, which stand in for PETSc's, answer.
struct OtherPetsc {
  int major = PETSC_VERSION_MAJOR;
  int minor = PETSC_VERSION_MINOR;
  int index_bits = 8 * sizeof(PetscInt);
  PetscDataType scalar = PETSC_DOUBLE;
};
OtherPetsc& other_petsc();

}  // namespace block_eigs::test
