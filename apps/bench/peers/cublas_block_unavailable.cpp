#include "apps/bench/peers/cublas_block.hpp"

namespace block_eigs::bench {

template <class T>
std::unique_ptr<CublasBlock<T>> make_cublas_block(const std::shared_ptr<Device>&) {
  return nullptr;
}

template std::unique_ptr<CublasBlock<float>> make_cublas_block(const std::shared_ptr<Device>&);
template std::unique_ptr<CublasBlock<double>> make_cublas_block(const std::shared_ptr<Device>&);

}  // namespace block_eigs::bench
