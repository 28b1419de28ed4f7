#pragma once

#include <mpi.h>

#include "spmm/error.hpp"

namespace block_eigs {

/// Ends all ranks of the job, wherever they are: prints `sentence`, removes unfinished files, calls MPI_Abort. A
/// rank other than 0 of MPI_COMM_WORLD waits before it speaks, for rank 0 may end for the same reason, and one
/// message is enough: by then the launcher has ended it. Not collective.
[[noreturn]] void end_job(ExitCode code, const char* sentence) noexcept;

/// Makes MPI errors on `comm` end the job with one sentence and exit code 3, whatever handler it has. Not
/// collective.
void end_job_on_errors(MPI_Comm comm);

}  // namespace block_eigs
