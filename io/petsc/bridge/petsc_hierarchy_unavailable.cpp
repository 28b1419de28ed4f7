#include "io/petsc/bridge/petsc_hierarchy.hpp"
#include "spmm/error.hpp"

namespace block_eigs::petsc {

GridHierarchy build_hierarchy(const Communicator& comm, const CsrRows&, const Partition&,
                              const HierarchyOptions&) {
  comm.collectively([] {
    throw InputError(
        "preconditioner amg: this build has no PETSc, which the methods gamg and hypre need; install it (Debian: "
        "libpetsc-real-dev) and configure with -DBLOCK_EIGS_PETSC=ON, or use method: aggregation");
  });
  return {};
}

}  // namespace block_eigs::petsc
