// Stands in for some functions of MPI and counts. Apart from the test, for PETSc's headers give MPI_Isend another
// meaning.
#include "tests/petsc/mpi_calls.hpp"

#include <mpi.h>

namespace {

int isends = 0;
int communicators = 0;

}  // namespace

extern "C" {

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  ++isends;
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  ++communicators;
  return PMPI_Comm_dup(comm, copy);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part) {
  ++communicators;
  return PMPI_Comm_split_type(comm, type, key, info, part);
}

int MPI_Comm_free(MPI_Comm* comm) {
  --communicators;
  return PMPI_Comm_free(comm);
}
}

namespace block_eigs::test {

int sends() { return isends; }
int live_communicators() { return communicators; }

}  // namespace block_eigs::test
