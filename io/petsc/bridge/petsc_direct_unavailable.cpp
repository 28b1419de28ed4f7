#include "io/petsc/bridge/petsc_direct.hpp"

namespace block_eigs::petsc {

// There are no factors to make it of.
template <class T>
std::unique_ptr<LinearOperator<T>> make_direct(const Context<T>&, std::shared_ptr<Factorization>, LocalIndex,
                                               double) {
  return nullptr;
}

template std::unique_ptr<LinearOperator<float>> make_direct(const Context<float>&, std::shared_ptr<Factorization>,
                                                            LocalIndex, double);
template std::unique_ptr<LinearOperator<double>> make_direct(const Context<double>&,
                                                             std::shared_ptr<Factorization>, LocalIndex, double);

}  // namespace block_eigs::petsc
