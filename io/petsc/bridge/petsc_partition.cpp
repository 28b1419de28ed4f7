#include "io/petsc/bridge/petsc_partition.hpp"

#include <petscmat.h>

#include <vector>

#include "io/petsc/bridge/petsc_check.hpp"

namespace block_eigs::petsc {

namespace {

constexpr const char* asking = "asking a PETSc matrix for its layout";

/// `ranges` are owned by the matrix: one number more than it has ranks.
Partition partition_of(Mat a, const PetscInt* ranges) {
  PetscMPIInt size = 1;
  MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(a)), &size);
  return Partition(std::vector<GlobalIndex>(ranges, ranges + size + 1));
}

}  // namespace

Partition row_partition(_p_Mat* a) {
  const PetscInt* ranges = nullptr;
  check(MatGetOwnershipRanges(a, &ranges), asking);
  return partition_of(a, ranges);
}

Partition column_partition(_p_Mat* a) {
  const PetscInt* ranges = nullptr;
  check(MatGetOwnershipRangesColumn(a, &ranges), asking);
  return partition_of(a, ranges);
}

}  // namespace block_eigs::petsc
