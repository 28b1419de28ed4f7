// Stands in for the two functions by which the plug-in asks which PETSc it is in.
#include "tests/petsc/other_petsc.hpp"

#include <cstdint>

namespace block_eigs::test {

OtherPetsc& other_petsc() {
  static OtherPetsc answers;
  return answers;
}

namespace {

/// Writes as many bytes as a PetscInt of the other PETSc has.
void answer(PetscInt* place, int number) {
  if (place == nullptr) return;
  void* const bytes = place;
  if (other_petsc().index_bits == 64) {
    *static_cast<std::int64_t*>(bytes) = number;
  } else {
    *static_cast<std::int32_t*>(bytes) = number;
  }
}

}  // namespace
}  // namespace block_eigs::test

extern "C" {

PetscErrorCode PetscGetVersionNumber(PetscInt* major, PetscInt* minor, PetscInt* subminor, PetscInt* release) {
  using namespace block_eigs::test;
  answer(major, other_petsc().major);
  answer(minor, other_petsc().minor);
  answer(subminor, 0);
  answer(release, 1);
  return PetscErrorCode{};
}

PetscErrorCode PetscDataTypeFromString(const char*, PetscDataType* type, PetscBool* found) {
  *type = block_eigs::test::other_petsc().scalar;
  *found = PETSC_TRUE;
  return PetscErrorCode{};
}
}
