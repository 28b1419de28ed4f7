#include "spmm/device/kernels.hpp"

#include <string>

#include "spmm/cuda/runtime/cuda_backend.hpp"
#include "spmm/error.hpp"
#include "spmm/host/runtime/host_backend.hpp"

namespace block_eigs {

SpmmAlgorithm spmm_algorithm_from_name(std::string_view name) {
  if (name == "auto") return SpmmAlgorithm::automatic;
  if (name == "row-split") return SpmmAlgorithm::row_split;
  if (name == "merge") return SpmmAlgorithm::merge;
  throw InputError("unknown SpMM algorithm '" + std::string(name) + "'; it is auto, row-split or merge");
}

const char* name_of(SpmmAlgorithm algorithm) {
  switch (algorithm) {
    case SpmmAlgorithm::automatic:
      return "auto";
    case SpmmAlgorithm::row_split:
      return "row-split";
    case SpmmAlgorithm::merge:
      return "merge";
  }
  return "";
}

template <class T>
std::shared_ptr<Kernels<T>> make_kernels(std::shared_ptr<Device> device) {
  if (device->backend() == Backend::cuda) return cuda::make_kernels<T>(std::move(device));
  return host::make_kernels<T>(std::move(device));
}

template std::shared_ptr<Kernels<float>> make_kernels(std::shared_ptr<Device>);
template std::shared_ptr<Kernels<double>> make_kernels(std::shared_ptr<Device>);

}  // namespace block_eigs
