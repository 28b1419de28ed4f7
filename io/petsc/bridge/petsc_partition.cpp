#include "io/petsc/bridge/petsc_partition.hpp"

#include <petscmat.h>

#include <vector>

#include "io/petsc/bridge/petsc_check.hpp"

namespace block_eigs::petsc {

namespace {

constexpr const char* asking = "asking a PETSc matrix for its layout";

/// A matrix of the program's own kind may never have been set up: PETSc's products do not ask for it.
void set_up_layouts(Mat a) {
  PetscLayout rows = nullptr;
  PetscLayout columns = nullptr;
  check(MatGetLayouts(a, &rows, &columns), asking);
  check(PetscLayoutSetUp(rows), asking);
  check(PetscLayoutSetUp(columns), asking);
}

/// `ranges` are owned by the matrix: one number more than it has ranks.
Partition partition_of(Mat a, const PetscInt* ranges) {
  PetscMPIInt size = 1;
  MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(a)), &size);
  return Partition(std::vector<GlobalIndex>(ranges, ranges + size + 1));
}

}  // namespace

Partition row_partition(_p_Mat* a) {
  set_up_layouts(a);
  const PetscInt* ranges = nullptr;
  check(MatGetOwnershipRanges(a, &ranges), asking);
  return partition_of(a, ranges);
}

Partition column_partition(_p_Mat* a) {
  set_up_layouts(a);
  const PetscInt* ranges = nullptr;
  check(MatGetOwnershipRangesColumn(a, &ranges), asking);
  return partition_of(a, ranges);
}

}  // namespace block_eigs::petsc
