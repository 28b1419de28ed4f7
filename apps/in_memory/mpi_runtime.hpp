#pragma once

#include <string>

#include "spmm/parallel/communicator.hpp"

// MPI in a process that is not ours: perhaps running already, perhaps ended by someone else.
namespace block_eigs {

/// Starts MPI unless it runs, and lets LAPACK take its buffers. Throws RunError where MPI has ended already,
/// cannot be used by threads, or was started before the process was forked. Any number of calls.
void start_mpi();
/// Ends MPI if start_mpi has started it and nobody has ended it. No communicator may be in use any more.
void end_mpi();

/// This process alone.
Communicator own_communicator();
/// A duplicate of the communicator that MPI's Fortran interface knows by this number. Collective over it.
Communicator communicator_from(int fortran_handle);

/// What the MPI library at work calls itself.
std::string mpi_library_version();

}  // namespace block_eigs
