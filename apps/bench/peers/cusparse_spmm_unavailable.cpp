#include "apps/bench/peers/cusparse_spmm.hpp"

// Stands in where there is no CUDA.
namespace block_eigs::bench {

template <class T>
std::unique_ptr<CusparseSpmm<T>> make_cusparse_spmm(const std::shared_ptr<Device>&, const CsrView<T>&,
                                                    const CsrView<T>&) {
  return nullptr;
}

SpmmAlgorithm chosen_algorithm(const SpmmPlan&) { return SpmmAlgorithm::automatic; }

template std::unique_ptr<CusparseSpmm<float>> make_cusparse_spmm(const std::shared_ptr<Device>&,
                                                                 const CsrView<float>&, const CsrView<float>&);
template std::unique_ptr<CusparseSpmm<double>> make_cusparse_spmm(const std::shared_ptr<Device>&,
                                                                  const CsrView<double>&, const CsrView<double>&);

}  // namespace block_eigs::bench
