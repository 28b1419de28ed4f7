// Entry of libblock_eigs_slepc.so. PETSc loads it within PetscInitialize, before SLEPc is up: EPSRegister prepares
// of SLEPc what it needs, and SlepcInitialize finds that done.
#include "apps/petsc/block_eigs_slepc.h"

#include <array>
#include <cstdint>

#include "apps/petsc/eps_blockeigs.hpp"
#include "apps/petsc/loaded_petsc.hpp"

namespace {

constexpr const char* name = "libblock_eigs_slepc";

PetscErrorCode check_slepc_and_register() {
  std::array<std::int64_t, 3> number{};
  const auto place = [&](std::size_t i) { return reinterpret_cast<PetscInt*>(&number[i]); };
  const PetscErrorCode asked = SlepcGetVersionNumber(place(0), place(1), place(2), nullptr);
  if (asked != 0) return asked;
  if (number[0] != SLEPC_VERSION_MAJOR || number[1] != SLEPC_VERSION_MINOR) {
    return PetscError(MPI_COMM_SELF, __LINE__, "PetscDLLibraryRegister_block_eigs_slepc", __FILE__,
                      static_cast<PetscErrorCode>(PETSC_ERR_SUP), PETSC_ERROR_INITIAL,
                      "%s was built for SLEPc %s; this program runs SLEPc %s", name,
                      block_eigs::petsc::version_text(SLEPC_VERSION_MAJOR, SLEPC_VERSION_MINOR).c_str(),
                      block_eigs::petsc::version_text(number[0], number[1]).c_str());
  }
  return block_eigs::petsc::register_blockeigs();
}

}  // namespace

extern "C" {

PetscErrorCode PetscDLLibraryRegister_block_eigs_slepc(void) {
  const PetscErrorCode wrong = block_eigs::petsc::check_loaded_petsc(name, __builtin_return_address(0));
  return wrong != 0 ? wrong : check_slepc_and_register();
}

PetscErrorCode EPSRegisterBlockEigs(void) {
  const PetscErrorCode wrong = block_eigs::petsc::check_petsc_version(name);
  return wrong != 0 ? wrong : check_slepc_and_register();
}
}
