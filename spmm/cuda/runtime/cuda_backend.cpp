#include "spmm/cuda/runtime/cuda_backend.hpp"

#include <map>

#include "spmm/cuda/algebra/cuda_sparse_algebra.hpp"
#include "spmm/cuda/runtime/cuda_device.hpp"
#include "spmm/cuda/runtime/cuda_kernels.hpp"
#include "spmm/cuda/runtime/requirements.hpp"

namespace block_eigs::cuda {

namespace {

struct Search {
  int found = 0;
  std::string why;  ///< what the driver says where it finds none
};

Search search() {
  Search result;
  const cudaError_t status = cudaGetDeviceCount(&result.found);
  if (status == cudaSuccess) return result;
  cudaGetLastError();
  return {0, cudaGetErrorString(status)};
}

}  // namespace

bool is_built() { return true; }

int device_count() { return search().found; }

std::shared_ptr<Device> make_device(int node_rank) {
  const Search gpus = search();
  require_gpu(gpus.found, gpus.why);
  return std::make_shared<CudaDevice>(node_rank % gpus.found);
}

std::shared_ptr<Device> kept_device(int node_rank) {
  struct Kept {
    CudaDevice* device = nullptr;  // never destroyed: the driver may be gone by the end of the process
    std::weak_ptr<Device> users;
  };
  static std::map<int, Kept> devices;
  const Search gpus = search();
  require_gpu(gpus.found, gpus.why);
  Kept& kept = devices[node_rank % gpus.found];
  if (std::shared_ptr<Device> used = kept.users.lock()) return used;
  if (kept.device == nullptr) kept.device = new CudaDevice(node_rank % gpus.found);
  std::shared_ptr<Device> device(kept.device, [](Device* idle) { static_cast<CudaDevice*>(idle)->rest(); });
  kept.users = device;
  return device;
}

template <class T>
std::shared_ptr<Kernels<T>> make_kernels(std::shared_ptr<Device> device) {
  return std::make_shared<CudaKernels<T>>(std::static_pointer_cast<CudaDevice>(std::move(device)));
}

std::shared_ptr<SparseAlgebra> make_sparse_algebra(std::shared_ptr<Device> device) {
  return std::make_shared<CudaSparseAlgebra>(std::static_pointer_cast<CudaDevice>(std::move(device)));
}

template std::shared_ptr<Kernels<float>> make_kernels(std::shared_ptr<Device>);
template std::shared_ptr<Kernels<double>> make_kernels(std::shared_ptr<Device>);

}  // namespace block_eigs::cuda
