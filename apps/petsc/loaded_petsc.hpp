#pragma once

#include <petscsys.h>

#include <string>

namespace block_eigs::petsc {

/// An error of PETSc's where `caller`, an address in the PETSc that has loaded us, is in another library than the
/// PETSc that we use, or where this is of another version than the one that `plugin` was built for. Not
/// collective.
PetscErrorCode check_loaded_petsc(const char* plugin, const void* caller);
/// The same without a caller, where a program is linked with us.
PetscErrorCode check_petsc_version(const char* plugin);

/// "3.18", of the headers that this was built with, and of numbers that a library has said.
std::string version_text(long major, long minor);

}  // namespace block_eigs::petsc
