#pragma once

#include <set>
#include <string>

#include "spmm/parallel/communicator.hpp"

// MPI in a process that is not ours: perhaps running already, perhaps ended by someone else.
namespace block_eigs {

/// Starts MPI unless it runs, and lets LAPACK take its buffers. Throws RunError where MPI has ended already,
/// cannot be used by threads, or was started before the process was forked. Any number of calls; true is the
/// answer of the first one where somebody else has started MPI.
bool start_mpi();
/// MPI tells itself by variables of the environment who it is. A launcher that is started from here would take
/// itself for a part of this process's job, and end without a word. start_mpi takes back those that came when it
/// started MPI; this, if MPI runs, those that are not `known`: names that were there before somebody else has
/// started it.
void forget_variables_of_mpi(const std::set<std::string>& known);
/// Ends MPI if start_mpi has started it and nobody has ended it. No communicator may be in use any more.
void end_mpi();

/// This process alone.
Communicator own_communicator();
/// A duplicate of the communicator that MPI's Fortran interface knows by this number. Collective over it.
Communicator communicator_from(int fortran_handle);

/// What the MPI library at work calls itself.
std::string mpi_library_version();

}  // namespace block_eigs
