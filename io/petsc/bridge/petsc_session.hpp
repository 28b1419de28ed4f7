#pragma once

#include <string>

#include "io/petsc/bridge/petsc_check.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs::petsc {

/// Makes PETSc usable. Where the program has initialised PETSc itself, that stands and nothing happens. Else the
/// first call starts it on a duplicate of `comm`: without signal handlers, without options from the command line
/// or .petscrc files (the environment variable PETSC_OPTIONS counts), and with errors handed on as exceptions
/// instead of being printed. Collective; throws RunError.
void initialize(const Communicator& comm);

/// Ends PETSc where `initialize` has started it, else nothing. After the last PETSc object is gone and before
/// MPI_Finalize. Collective.
void finalize() noexcept;

/// The version, scalar type and index width of the PETSc in use: "PETSc 3.18.5, real double, 32-bit indices".
std::string description();

}  // namespace block_eigs::petsc
