#include "apps/petsc/loaded_petsc.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdint>

namespace block_eigs::petsc {

namespace {

static_assert(sizeof(PetscScalar) == sizeof(double), "the solver types are for PETSc with real double scalars");

PetscErrorCode refuse(const char* plugin, const std::string& found) {
  return PetscError(MPI_COMM_SELF, __LINE__, "PetscDLLibraryRegister", __FILE__,
                    static_cast<PetscErrorCode>(PETSC_ERR_SUP), PETSC_ERROR_INITIAL,
                    "%s was built for PETSc %s; %s", plugin,
                    version_text(PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR).c_str(), found.c_str());
}

}  // namespace

std::string version_text(long major, long minor) { return std::to_string(major) + "." + std::to_string(minor); }

PetscErrorCode check_petsc_version(const char* plugin) {
  // Room for the widest PetscInt, and zeros above a narrower one.
  std::array<std::int64_t, 3> number{};
  const auto place = [&](std::size_t i) { return reinterpret_cast<PetscInt*>(&number[i]); };
  if (PetscGetVersionNumber(place(0), place(1), place(2), nullptr) != 0)
    return refuse(plugin, "this one does not say its version");
  if (number[0] != PETSC_VERSION_MAJOR || number[1] != PETSC_VERSION_MINOR)
    return refuse(plugin, "this program runs PETSc " + version_text(number[0], number[1]));
  PetscDataType scalar = PETSC_DATATYPE_UNKNOWN;
  PetscBool found = PETSC_FALSE;
  if (PetscDataTypeFromString("scalar", &scalar, &found) != 0 || found == PETSC_FALSE || scalar != PETSC_DOUBLE)
    return refuse(plugin, "with real scalars in double precision, which this one has not");
  return static_cast<PetscErrorCode>(0);
}

PetscErrorCode check_loaded_petsc(const char* plugin, const void* caller) {
  Dl_info from{};
  Dl_info used{};
  const bool known =
      dladdr(caller, &from) != 0 && dladdr(reinterpret_cast<const void*>(&PetscGetVersionNumber), &used) != 0;
  if (known && from.dli_fbase != used.dli_fbase) {
    return refuse(plugin,
                  std::string("it is linked with ") + used.dli_fname + ", and loaded by " + from.dli_fname);
  }
  return check_petsc_version(plugin);
}

}  // namespace block_eigs::petsc
