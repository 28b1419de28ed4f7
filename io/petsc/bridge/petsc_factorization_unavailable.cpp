#include "io/petsc/bridge/petsc_factorization.hpp"
#include "spmm/error.hpp"

namespace block_eigs::petsc {

bool has_factorization(const Communicator&) { return false; }

void require_factorization(const Communicator& comm, const FactorizationUse& use) {
  comm.collectively([&] {
    throw InputError(std::string(use.wanted_by) +
                     " needs a factorisation by MUMPS, and this build has no PETSc; install it (Debian: "
                     "libpetsc-real-dev) and configure with -DBLOCK_EIGS_PETSC=ON, or " +
                     use.instead);
  });
}

struct Factorization::Factor {
  FactorSize size{};
};

Factorization::Factorization(const Communicator& comm, const CsrRows&, const CsrRows*, const Partition&, double,
                             const FactorizationUse& use) {
  require_factorization(comm, use);
}
Factorization::~Factorization() = default;
const FactorSize& Factorization::size() const { return factor_->size; }
void Factorization::require_memory(LocalIndex) const {}
Inertia Factorization::factorize(const CsrRows&, const CsrRows*, double) { return {}; }
void Factorization::solve(_p_Mat*, _p_Mat*) {}

Inertia inertia(const Communicator& comm, const CsrRows&, const CsrRows*, const Partition&, double) {
  require_factorization(comm, {"eigensolver.verify: inertia", "use verify: probe"});
  return {};
}

}  // namespace block_eigs::petsc
