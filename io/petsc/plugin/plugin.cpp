// Entry of the plug-in: PETSc calls it when it loads libblock_eigs_petsc.so (-dll_append). The plug-in is not
// linked with libpetsc, so that it never brings a second one: it uses the one that loads it, once that is seen to
// be of the kind that it was built for. Nothing here may use data of libpetsc (PETSC_COMM_WORLD, MAT_CLASSID),
// functions alone.
#include <dlfcn.h>
#include <petscmat.h>

#include <array>
#include <cstdint>
#include <string>

#include "io/petsc/block_eigs_petsc.h"
#include "io/petsc/plugin/mat_blockcsr.hpp"

namespace {

/// Makes the functions of the library that called us, libpetsc or a program that contains it, visible to us where
/// it was loaded privately, as Python does.
void see_functions_of(const void* caller) {
  Dl_info info{};
  if (dladdr(caller, &info) != 0 && info.dli_fname != nullptr) {
    static_cast<void>(dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL));
  }
}

struct RunningVersion {
  std::string text;    ///< "3.18"
  int index_bits = 0;  ///< of PetscInt
};

/// Asks with room for the widest PetscInt: what a narrower one leaves unwritten stays all ones.
RunningVersion running_version() {
  std::array<std::int64_t, 3> number{-1, -1, -1};
  const auto place = [&](std::size_t i) { return reinterpret_cast<PetscInt*>(&number[i]); };
  if (PetscGetVersionNumber(place(0), place(1), place(2), nullptr) != 0) return {"of unknown version", 0};
  const auto low_bits = [&](std::size_t i) { return std::to_string(number[i] & 0xffffffff); };
  return {low_bits(0) + "." + low_bits(1), number[0] < 0 ? 32 : 64};
}

/// "double", "complex" and so on.
std::string running_scalar() {
  PetscDataType type = PETSC_DATATYPE_UNKNOWN;
  PetscBool found = PETSC_FALSE;
  if (PetscDataTypeFromString("scalar", &type, &found) != 0 || !found) return "unknown";
  switch (type) {
    case PETSC_DOUBLE:
      return "double";
    case PETSC_COMPLEX:
      return "complex";
    case PETSC_FLOAT:
      return "float";
    default:
      return "other";
  }
}

std::string kind(const std::string& version, const std::string& scalar, int index_bits) {
  return "PETSc " + version + ", " + scalar + " scalars, PetscInt of " + std::to_string(index_bits) + " bits";
}

static_assert(sizeof(PetscScalar) == sizeof(double), "the bridge is for PETSc with real double scalars");

int check_and_register() {
  const std::string built = kind(std::to_string(PETSC_VERSION_MAJOR) + "." + std::to_string(PETSC_VERSION_MINOR),
                                 "double", 8 * sizeof(PetscInt));
  const RunningVersion running = running_version();
  const std::string found = kind(running.text, running_scalar(), running.index_bits);
  if (built != found) {
    return PetscError(MPI_COMM_SELF, __LINE__, "PetscDLLibraryRegister_block_eigs_petsc", __FILE__, PETSC_ERR_SUP,
                      PETSC_ERROR_INITIAL, "libblock_eigs_petsc was built for %s; this program runs %s",
                      built.c_str(), found.c_str());
  }
  return block_eigs::petsc::register_blockcsr();
}

}  // namespace

extern "C" {

PetscErrorCode PetscDLLibraryRegister_block_eigs_petsc(void) {
  see_functions_of(__builtin_return_address(0));
  return check_and_register();
}

PetscErrorCode MatRegisterBlockCSR(void) { return check_and_register(); }
}
