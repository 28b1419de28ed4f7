#include "tests/support/mpi_collectives.hpp"

#include <mpi.h>

// Stands in for the collective functions of MPI, and counts.
namespace {

long calls = 0;

}  // namespace

extern "C" {

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++calls;
  return PMPI_Allreduce(from, to, count, type, op, comm);
}

int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  ++calls;
  return PMPI_Reduce(from, to, count, type, op, root, comm);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  ++calls;
  return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Allgather(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type,
                  MPI_Comm comm) {
  ++calls;
  return PMPI_Allgather(from, count, type, to, to_count, to_type, comm);
}

int MPI_Alltoall(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type,
                 MPI_Comm comm) {
  ++calls;
  return PMPI_Alltoall(from, count, type, to, to_count, to_type, comm);
}

int MPI_Gather(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type,
               int root, MPI_Comm comm) {
  ++calls;
  return PMPI_Gather(from, count, type, to, to_count, to_type, root, comm);
}

int MPI_Barrier(MPI_Comm comm) {
  ++calls;
  return PMPI_Barrier(comm);
}
}

namespace block_eigs::test {

long mpi_collectives() { return calls; }

}  // namespace block_eigs::test
