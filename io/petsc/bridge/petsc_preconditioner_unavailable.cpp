#include "io/petsc/bridge/petsc_preconditioner.hpp"
#include "io/petsc/bridge/petsc_session.hpp"
#include "spmm/error.hpp"

namespace block_eigs::petsc {

template <class T>
std::unique_ptr<LinearOperator<T>> make_preconditioner(const Context<T>& context, const CsrRows&, const Partition&,
                                                       const std::string&) {
  context.comm.collectively([] {
    throw InputError(
        "preconditioner petsc: this build has no PETSc; install it (Debian: libpetsc-real-dev) and configure with "
        "-DBLOCK_EIGS_PETSC=ON, or use type: chebyshev");
  });
  return nullptr;
}

template std::unique_ptr<LinearOperator<float>> make_preconditioner(const Context<float>&, const CsrRows&,
                                                                    const Partition&, const std::string&);
template std::unique_ptr<LinearOperator<double>> make_preconditioner(const Context<double>&, const CsrRows&,
                                                                     const Partition&, const std::string&);

/// Nothing was started.
void finalize() noexcept {}

}  // namespace block_eigs::petsc
