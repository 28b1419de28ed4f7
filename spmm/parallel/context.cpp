#include "spmm/parallel/context.hpp"

#include "spmm/host/runtime/threads.hpp"

namespace block_eigs {

template <class T>
Context<T> make_context(const Communicator& comm, Backend backend, HaloWay halo) {
  std::shared_ptr<Device> device;
  std::shared_ptr<Kernels<T>> kernels;
  comm.collectively([&] {
    host::set_threads(host::default_threads(comm.node_size()));
    device = make_device(backend, comm.node_rank());
    kernels = make_kernels<T>(device);
  });
  return {comm, device, kernels, std::make_shared<Profile>(device), make_transport(comm, device, halo)};
}

template Context<float> make_context(const Communicator&, Backend, HaloWay);
template Context<double> make_context(const Communicator&, Backend, HaloWay);

}  // namespace block_eigs
