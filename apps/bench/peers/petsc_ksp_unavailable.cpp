#include "apps/bench/peers/petsc_ksp.hpp"
#include "spmm/error.hpp"

namespace block_eigs::bench {

bool have_ksp(const Communicator&, const std::string&) { return false; }
bool have_pc(const Communicator&, const std::string&) { return false; }

Contender ksp_contender(const Communicator&, const CsrRows&, const std::vector<double>&, int, double, int,
                        const std::string&, KspUse, const std::string&, const std::string&) {
  throw InputError("this bench was built without PETSc");
}

void end_petsc() {}

}  // namespace block_eigs::bench
