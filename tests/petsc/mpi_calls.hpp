#pragma once

namespace block_eigs::test {

/// Calls of MPI_Isend by the calling rank so far, whoever makes them.
int sends();
/// Communicators made less those freed.
int live_communicators();

}  // namespace block_eigs::test
