#include "spmm/cuda/runtime/cuda_backend.hpp"
#include "spmm/error.hpp"

// Stands in for the CUDA backend where it was not built.
namespace block_eigs::cuda {

namespace {
constexpr const char* reason =
    "device cuda: this build has no CUDA backend; configure with -DBLOCK_EIGS_CUDA=ON where nvcc is installed, "
    "or use device: host";
}

bool is_built() { return false; }

int device_count() { return 0; }

std::shared_ptr<Device> make_device(int) { throw InputError(reason); }

std::shared_ptr<Device> kept_device(int) { throw InputError(reason); }

template <class T>
std::shared_ptr<Kernels<T>> make_kernels(std::shared_ptr<Device>) {
  throw InputError(reason);
}

std::shared_ptr<SparseAlgebra> make_sparse_algebra(std::shared_ptr<Device>) { throw InputError(reason); }

template std::shared_ptr<Kernels<float>> make_kernels(std::shared_ptr<Device>);
template std::shared_ptr<Kernels<double>> make_kernels(std::shared_ptr<Device>);

}  // namespace block_eigs::cuda
