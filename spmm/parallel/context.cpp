#include "spmm/parallel/context.hpp"

#include "spmm/host/runtime/threads.hpp"

namespace block_eigs {

template <class T>
Context<T> make_context(const Communicator& comm, Backend backend) {
  std::shared_ptr<Device> device;
  std::shared_ptr<Kernels<T>> kernels;
  comm.collectively([&] {
    host::set_threads(host::default_threads(comm.node_size()));
    device = make_device(backend, comm.node_rank());
    kernels = make_kernels<T>(device);
  });
  return {comm, device, kernels, std::make_shared<Profile>(device), make_transport(comm, device)};
}

template Context<float> make_context(const Communicator&, Backend);
template Context<double> make_context(const Communicator&, Backend);

}  // namespace block_eigs
