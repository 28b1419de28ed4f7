#include "io/petsc/bridge/petsc_inertia.hpp"
#include "spmm/error.hpp"

namespace block_eigs::petsc {

void require_inertia(const Communicator& comm) {
  comm.collectively([] {
    throw InputError(
        "eigensolver.verify: inertia needs a factorisation by MUMPS, and this build has no PETSc; install it "
        "(Debian: libpetsc-real-dev) and configure with -DBLOCK_EIGS_PETSC=ON, or use verify: probe");
  });
}

struct InertiaCounter::Factor {};

InertiaCounter::InertiaCounter(const Communicator& comm, const CsrRows&, const CsrRows*, const Partition&,
                               double) {
  require_inertia(comm);
}
InertiaCounter::~InertiaCounter() = default;
double InertiaCounter::factor_bytes() const { return 0.0; }
Inertia InertiaCounter::count(double) { return {}; }

Inertia inertia(const Communicator& comm, const CsrRows&, const CsrRows*, const Partition&, double) {
  require_inertia(comm);
  return {};
}

}  // namespace block_eigs::petsc
