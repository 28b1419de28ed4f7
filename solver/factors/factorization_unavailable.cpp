#include "solver/factors/factorization.hpp"
#include "spmm/error.hpp"

namespace block_eigs::factors {

bool available() { return false; }

void require_available(const Communicator& comm, const Use& use) {
  comm.collectively([&] {
    throw InputError(std::string(use.wanted_by) +
                     " needs a factorisation by MUMPS, which this build lacks; install it (Debian: libmumps-dev) "
                     "and configure with -DBLOCK_EIGS_MUMPS=ON, or " +
                     use.instead);
  });
}

struct Factorization::State {
  FactorSize size{};
};

Factorization::Factorization(const Communicator& comm, const CsrRows&, const CsrRows*, const Partition&,
                             const Use& use) {
  require_available(comm, use);
}
Factorization::~Factorization() = default;
const FactorSize& Factorization::size() const { return state_->size; }
void Factorization::serve(const Use&) {}
void Factorization::require_memory(LocalIndex) const {}
Inertia Factorization::factorize(const CsrRows&, const CsrRows*, double, int) { return {}; }
void Factorization::reserve(LocalIndex) {}
void Factorization::solve(double*, LocalIndex) {}

Inertia inertia(const Communicator& comm, const CsrRows&, const CsrRows*, const Partition&, double,
                const Use& use) {
  require_available(comm, use);
  return {};
}

}  // namespace block_eigs::factors
