#pragma once

namespace block_eigs::test {

/// Collective calls of MPI that this process has made so far, on whatever communicator.
long mpi_collectives();

}  // namespace block_eigs::test
